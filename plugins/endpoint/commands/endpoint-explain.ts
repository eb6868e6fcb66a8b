import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'

const flags = { format: flag.choice('output format', ['text', 'json'], 'text') }

/** How long each server may take, in milliseconds. */
const PATIENCE_MS = 10_000

export class EndpointExplain extends BaseCommand {
  static override paths = [['endpoint', 'explain']]
  static override usage = BaseCommand.Usage({
    category: 'Endpoints',
    description: 'show where a tool of an endpoint comes from, or why it is not there',
    details: 'The tool is named as clients see it, or as its server does.',
    examples: [['Why do clients not see the tool?', '$0 endpoint explain team create_issue']],
  })
  static override synopsis = 'NAME TOOL'
  static override flags = flags
  static override completes = 'workloads' as const

  name = Option.String({ required: true })
  tool = Option.String({ required: true })

  override async execute(): Promise<void> {
    const { format } = this.values(flags)
    const { signal } = this.context
    const [endpoints, servers, { explainTool }] = await Promise.all([
      this.app.service('endpoints'),
      this.app.service('serverTools'),
      import('../explain-tool.ts'),
    ])
    const origins = await explainTool(await endpoints.get(this.name), this.tool, async server =>
      (await servers.of(server, { timeoutMs: PATIENCE_MS, signal })).map(({ name }) => name),
    )
    this.printList(origins, {
      format,
      columns: [
        { title: 'NAME', of: origin => origin.name },
        { title: 'SERVER', of: origin => origin.server },
        { title: 'TOOL', of: origin => origin.tool ?? '-' },
        { title: 'STATE', of: origin => origin.problem ?? 'listed' },
      ],
    })
  }
}
