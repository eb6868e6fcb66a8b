import { text as readText } from 'node:stream/consumers'
import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { failures as core, messageOf } from '../../../src/errors.ts'
import { readUserFile } from '../../../src/user-file.ts'
import { describeContent } from '../describe-content.ts'
import { failures } from '../failures.ts'
import { readServerFlags, serverFlags } from '../flags.ts'
import { parseArguments } from '../parse-arguments.ts'

const flags = {
  ...serverFlags,
  args: flag.string('arguments of the tool, a JSON object', { placeholder: 'JSON' }),
  'args-file': flag.file('read the arguments from a file, or from standard input (-)', {
    placeholder: 'FILE|-',
  }),
  'ignore-tool-error': flag.boolean('exit with 0 even if the tool reports that it failed'),
}

export class McpCall extends BaseCommand {
  static override paths = [['mcp', 'call']]
  static override usage = BaseCommand.Usage({
    category: 'MCP',
    description: 'call a tool of a server and print its result',
    examples: [
      ['Call a tool of a workload', `$0 mcp call echo --server everything --args '{"message":"ahoy"}'`],
      [
        'Take the arguments from standard input',
        '$0 mcp call echo --server everything --args-file - < args.json',
      ],
    ],
  })
  static override synopsis = 'TOOL'
  static override surplus =
    `Arguments of the tool go into --args, e.g. --args '{"name":"value"}'; the server into --server.`
  static override completes = 'tools' as const
  static override flags = flags

  tool = Option.String({ required: true })

  override async execute(): Promise<void> {
    const values = this.values(flags)
    const { server, transport, timeoutMs } = readServerFlags(values)
    const args = await this.#arguments(values.args, values['args-file'])
    const { findServer } = await import('../find-server.ts')
    const { withServer } = await import('../connect.ts')
    const { callTool } = await import('../call-tool.ts')

    const address = await findServer(this.app, server, transport)
    const progress = this.progress()
    const result = await withServer(
      address,
      { timeoutMs, signal: this.context.signal, log: this.app.log },
      session => callTool(session, { name: this.tool, args, report: progress.report }),
    ).finally(progress.done)
    if (values.format === 'json') this.printJson(result)
    else for (const line of describeContent(result)) this.print(line)
    if (!result.isError) return
    if (!values['ignore-tool-error']) throw failures.mcp_tool_failed({ tool: this.tool })
    this.say(`The tool "${this.tool}" reports that it failed.`)
  }

  async #arguments(json: string | undefined, file: string | undefined): Promise<Record<string, unknown>> {
    if (json !== undefined && file !== undefined)
      throw core.usage({ text: '--args and --args-file exclude each other.', hint: 'Give one of them.' })
    if (file === '-') return parseArguments(await readText(this.context.stdin), '--args-file -')
    if (file === undefined) return json === undefined ? {} : parseArguments(json, '--args')
    const content = await readUserFile(file, 'The --args-file').catch(error => {
      throw core.usage({ text: messageOf(error) }, { cause: error })
    })
    return parseArguments(content, `--args-file ${file}`)
  }
}
