import { once } from 'node:events'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { parseRunConfig } from '../../../src/contracts/run-config.ts'
import { failures } from '../../../src/errors.ts'
import { readUserFile } from '../../../src/user-file.ts'
import { policyOf } from '../policy.ts'

const flags = {
  'from-config': flag.string('run config whose permission profile is enforced; required', {
    placeholder: 'FILE',
    completes: 'file',
  }),
  host: flag.string('address the proxy listens on', { placeholder: 'HOST', shown: '127.0.0.1' }),
  port: flag.port('port the proxy listens on; without it, a free one'),
}

export class EgressProxyCommand extends BaseCommand {
  static override paths = [['egress', 'proxy']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'run an egress proxy of its own, for a server that keelson does not start',
    details:
      'Reaches what the permission profile of the run config allows, until it is interrupted. Something else has to ' +
      'make it the only way out, e.g. a NetworkPolicy of Kubernetes.',
    examples: [['In a pod', '$0 egress proxy --from-config notes.json --host 0.0.0.0 --port 3128']],
  })
  static override flags = flags

  override async execute(): Promise<void> {
    const { 'from-config': path, host = '127.0.0.1', port = 0 } = this.values(flags)
    if (path === undefined) {
      throw failures.usage({
        text: '`egress proxy` needs a run config.',
        hint: 'Name its file with --from-config.',
      })
    }
    const { signal } = this.context
    const config = parseRunConfig(await readUserFile(path, 'The --from-config file'), path)
    const egress = await this.app.service('egress')
    const proxy = egress.createProxy({ log: this.app.log })
    try {
      const { listen } = await proxy.open({
        workload: config.name,
        policy: policyOf(config),
        listen: { host, port },
      })
      if ('port' in listen) this.print(`http://${listen.host}:${listen.port}`)
      if (!signal.aborted) await once(signal, 'abort')
    } finally {
      await proxy.close()
    }
  }
}
