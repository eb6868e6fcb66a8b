import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { clean } from '../../../src/cli/output.ts'
import type { Explanation } from '../index.ts'

const flags = { format: flag.choice('output format', ['text', 'json'], 'text') }

/** Exit code when the connection is denied. Codes 1 and 2 mean that the command failed. */
const DENIED = 3

export class EgressExplain extends BaseCommand {
  static override paths = [['egress', 'explain']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'say whether a workload may reach a URL, and which rule decides',
    details: 'Exits with 0 if it may, and with 3 if it may not.',
    examples: [['Why a server cannot connect', '$0 egress explain my-server https://api.example.com/']],
  })
  static override synopsis = 'WORKLOAD URL'
  static override completes = 'workloads' as const
  static override flags = flags

  workload = Option.String({ required: true })
  url = Option.String({ required: true })

  override async execute(): Promise<number> {
    const answer = await (await this.app.service('egress')).explain(this.workload, this.url)
    if (this.values(flags).format === 'json') this.printJson(answer)
    else for (const line of toLines(answer)) this.print(clean(line))
    return answer.allowed ? 0 : DENIED
  }
}

function toLines({ allowed, workload, host, port, rule, reason, addresses, add }: Explanation): string[] {
  const isFlag = add?.every(line => line.startsWith('--'))
  return [
    `${allowed ? 'Allowed' : 'Denied'}: ${workload} to ${host.includes(':') ? `[${host}]` : host}:${port}`,
    `Rule:      ${rule}`,
    `Reason:    ${reason}`,
    ...(addresses.length ? [`Addresses: ${addresses.join(', ')}`] : []),
    ...(add?.length
      ? [isFlag ? 'To allow it, run it with:' : 'To allow it, in network.outbound of its permission profile:']
      : []),
    ...(add ?? []).map(line => `  ${line}`),
  ]
}
