import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { callerHeaders } from '../../callers/index.ts'

export class ProxyStdio extends BaseCommand {
  static override paths = [['proxy', 'stdio']]
  static override usage = BaseCommand.Usage({
    category: 'Proxies',
    description: 'connect a client that speaks only stdio to a workload',
    details:
      'Passes MCP messages between its standard streams and the URL of a workload, until the client closes the ' +
      'input. Messages for people go to standard error. In the configuration of the client, this command takes the ' +
      'place of a server.',
    examples: [['What a stdio client starts', '$0 proxy stdio fetch']],
  })
  static override synopsis = 'WORKLOAD'
  static override completes = 'workloads' as const

  name = Option.String({ required: true })

  override async execute(): Promise<void> {
    const { signal } = this.context
    const [{ findWorkload }, { bridgeStdio }] = await Promise.all([
      import('../stdio/workload-address.ts'),
      import('../stdio/bridge-stdio.ts'),
    ])
    const [workloads, callerToken] = await Promise.all([
      this.app.service('workloads'),
      this.app.service('callerToken'),
    ])
    const address = await findWorkload({ name: this.name, get: name => workloads.get(name), signal })
    await bridgeStdio({
      stdin: this.context.stdin,
      stdout: this.context.stdout,
      address,
      callerHeaders: async () => callerHeaders(await callerToken.required()),
      log: this.app.log,
      signal,
    })
  }
}
