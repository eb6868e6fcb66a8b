import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { failures } from '../../../src/errors.ts'
import type { DescribedTool } from '../edit/describe-tools.ts'
import type { ToolsChange, ToolsResult } from '../edit/tools-operation.ts'
import { readSettings, toolsTable } from '../flags.ts'

const flags = {
  ...toolsTable,
  reset: flag.boolean('remove the current selection before the other flags apply'),
  preview: flag.boolean('only show what would change'),
  format: flag.choice('output format', ['text', 'json'], 'text'),
}

export class ToolsOf extends BaseCommand {
  static override paths = [['tools']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'show and select the tools of a workload',
    details:
      'Shows all tools of the server, and what clients see of them. Flags change the selection, in the run config and at ' +
      'once for connected clients, without a restart. A flag replaces its previous value; other flags keep theirs.',
    examples: [
      ['Show the tools', '$0 tools notes'],
      ['Show what would change', "$0 tools notes --tools 'get_*' --preview"],
      ['Show all tools again except one', '$0 tools notes --reset --tools-deny delete_note'],
    ],
  })
  static override synopsis = 'NAME'
  static override completes = 'workloads' as const
  static override flags = flags

  name = Option.String({ required: true })

  override async execute(): Promise<void> {
    const { preview, format } = this.values(flags)
    const change = await this.#readChange()
    if (preview && !change) {
      throw failures.usage({ text: '--preview needs a flag that changes something, e.g. --tools.' })
    }
    const { callToolsOperation } = await import('../edit/call-operation.ts')
    await (await this.app.service('workloadStore')).configs.get(this.name)
    const result = await callToolsOperation(this.app, {
      name: this.name,
      preview,
      ...(change ? { change } : {}),
    })
    for (const warning of result.warnings) this.app.log.warn(warning)
    if (format === 'json') return this.printJson({ name: this.name, ...result })
    if (change) this.#printChange(result, preview)
    else this.#printTools(result)
  }

  async #readChange(): Promise<ToolsChange | undefined> {
    const { reset, preview: _, format: __, ...values } = this.values(flags)
    const settings = await readSettings(values)
    const isOff = this.given.has('tools-read-only') && !values['tools-read-only']
    const said = { ...settings, ...(isOff ? { tools_read_only: false } : {}) }
    return reset || Object.keys(said).length ? { reset, settings: said } : undefined
  }

  #printTools({ tools, problem }: ToolsResult): void {
    if (!tools) {
      this.print(`The tools of "${this.name}" cannot be listed: ${problem}.`)
      return
    }
    this.printList(tools, {
      format: 'text',
      columns: [
        { title: 'NAME', of: tool => tool.shown_as ?? '-' },
        { title: 'REAL NAME', of: tool => tool.name },
        { title: 'CLIENTS', of: stateOf },
        { title: 'READ-ONLY', of: ({ read_only: hint }) => (hint === undefined ? '-' : hint ? 'yes' : 'no') },
      ],
      empty: `The server of "${this.name}" has no tools.`,
    })
  }

  #printChange(result: ToolsResult, isPreview: boolean): void {
    const { tools = [], before = [], problem, isOpen, foregroundProcess: pid } = result
    const was = new Map(before.map(tool => [tool.name, tool]))
    const changes = tools
      .map(tool => ({ name: tool.name, from: nameOf(was.get(tool.name)), to: nameOf(tool) }))
      .filter(({ from, to }) => from !== to)
    if (changes.length) {
      this.printTable(
        [
          { title: 'REAL NAME', of: row => row.name },
          { title: isPreview ? 'NOW' : 'BEFORE', of: row => row.from },
          { title: isPreview ? 'THEN' : 'NOW', of: row => row.to },
        ],
        changes,
      )
    } else if (problem === undefined) this.print('Clients see the same tools as before.')
    if (problem !== undefined) this.print(`The names of tools are not checked: ${problem}.`)
    if (isPreview || isOpen) return
    const unless = pid === undefined ? '' : ` Process ${pid} goes on with the tools that it started with.`
    this.print(`It counts from the next start of "${this.name}".${unless}`)
  }
}

const stateOf = ({ hidden_because: why }: DescribedTool): string =>
  why === undefined ? 'shown' : `hidden: ${why}`

const nameOf = (tool: DescribedTool | undefined): string =>
  tool?.shown_as ?? `hidden: ${tool?.hidden_because ?? 'not there'}`
