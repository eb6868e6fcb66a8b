import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { argumentsOf, hintsOf } from '../describe-tool.ts'
import { readServerFlags, serverFlags } from '../flags.ts'

export class McpInspect extends BaseCommand {
  static override paths = [['mcp', 'inspect']]
  static override usage = BaseCommand.Usage({
    category: 'MCP',
    description: 'show one tool of a server: what it does and the arguments that it takes',
    examples: [['What does "echo" take?', '$0 mcp inspect echo --server everything']],
  })
  static override synopsis = 'TOOL'
  static override completes = 'tools' as const
  static override flags = serverFlags

  tool = Option.String({ required: true })

  override async execute(): Promise<void> {
    const flags = this.values(serverFlags)
    const { server, transport, timeoutMs } = readServerFlags(flags)
    const { findServer } = await import('../find-server.ts')
    const { withServer } = await import('../connect.ts')
    const { findTool } = await import('../find-tool.ts')

    const address = await findServer(this.app, server, transport)
    const tool = await withServer(
      address,
      { timeoutMs, signal: this.context.signal, log: this.app.log },
      session => findTool(session, this.tool),
    )
    if (flags.format === 'json') return this.printJson(tool)
    this.print(tool.title ? `${tool.name}: ${tool.title}` : tool.name)
    if (tool.description) this.print(tool.description.trim())
    const hints = hintsOf(tool)
    if (hints.length) this.print(`The server says: ${hints.join(', ')}.`)
    this.print('')
    const rows = argumentsOf(tool)
    if (rows.length === 0) return this.print('It takes no arguments.')
    this.printTable(
      [
        { title: 'ARGUMENT', of: row => row.name },
        { title: 'TYPE', of: row => row.type },
        { title: 'REQUIRED', of: row => (row.required ? 'yes' : 'no') },
        { title: 'DESCRIPTION', of: row => row.description || '-', cut: 'end' },
      ],
      rows,
    )
  }
}
