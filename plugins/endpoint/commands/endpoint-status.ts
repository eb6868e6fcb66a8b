import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'

const flags = { format: flag.choice('output format', ['text', 'json'], 'text') }

/** How long each server may take, in milliseconds. */
const PATIENCE_MS = 10_000

export class EndpointStatus extends BaseCommand {
  static override paths = [['endpoint', 'status']]
  static override usage = BaseCommand.Usage({
    category: 'Endpoints',
    description: 'show the servers behind an endpoint',
    details:
      'TOOLS is how many a server lists now. CLASHES names tools that an earlier server has, too: with the naming `plain`, ' +
      'clients do not see them.',
  })
  static override synopsis = 'NAME'
  static override flags = flags
  static override completes = 'workloads' as const

  name = Option.String({ required: true })

  override async execute(): Promise<void> {
    const { format } = this.values(flags)
    const { signal } = this.context
    const [endpoints, servers, { readServerStates }] = await Promise.all([
      this.app.service('endpoints'),
      this.app.service('serverTools'),
      import('../server-states.ts'),
    ])
    const states = await readServerStates(await endpoints.get(this.name), async server =>
      (await servers.of(server, { timeoutMs: PATIENCE_MS, signal })).map(({ name }) => name),
    )
    this.printList(states, {
      format,
      columns: [
        { title: 'SERVER', of: state => state.name },
        { title: 'STATUS', of: state => state.status },
        { title: 'TOOLS', of: state => String(state.tools ?? '-') },
        { title: 'CLASHES', of: state => state.clashes.join(', ') || '-' },
        { title: 'REASON', of: state => state.problem ?? state.reason ?? '' },
      ],
    })
  }
}
