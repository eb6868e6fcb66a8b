import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import type { Column } from '../../../src/cli/output.ts'
import { failures, messageOf } from '../../../src/errors.ts'
import { onOneLine } from '../describe-tool.ts'
import { readServerFlags, serverFlags } from '../flags.ts'
import { CATEGORIES, type Category, type Offers } from '../list-offers.ts'

interface Row {
  name: string
  description?: string | undefined
  uri?: string
  mimeType?: string | undefined
  arguments?: { name: string; required?: boolean | undefined }[] | undefined
}

const NAME: Column<Row> = { title: 'NAME', of: row => row.name }
const DESCRIPTION: Column<Row> = {
  title: 'DESCRIPTION',
  of: row => onOneLine(row.description) || '-',
  cut: 'end',
}
const COLUMNS: Record<Category, Column<Row>[]> = {
  tools: [NAME, DESCRIPTION],
  resources: [
    NAME,
    { title: 'URI', of: row => row.uri ?? '-' },
    DESCRIPTION,
    { title: 'MIME TYPE', of: row => row.mimeType ?? '-' },
  ],
  prompts: [
    NAME,
    DESCRIPTION,
    {
      title: 'ARGUMENTS',
      of: row =>
        row.arguments?.map(({ name, required }) => (required ? name : `[${name}]`)).join(', ') || '-',
    },
  ],
}

export class McpList extends BaseCommand {
  static override paths = [['mcp', 'list']]
  static override usage = BaseCommand.Usage({
    category: 'MCP',
    description: 'list what a server offers: tools, resources and prompts',
    examples: [
      ['Everything that a workload offers', '$0 mcp list --server everything'],
      [
        'Only the tools of a server somewhere else, as JSON',
        '$0 mcp list tools --server https://example.com/mcp --format json',
      ],
    ],
  })
  static override synopsis = `[${CATEGORIES.join('|')}]`
  static override surplus = 'The server goes into --server.'
  static override flags = serverFlags

  category = Option.String({ required: false })

  override async execute(): Promise<void> {
    const flags = this.values(serverFlags)
    const categories = this.category === undefined ? CATEGORIES : [parseCategory(this.category)]
    const { server, transport, timeoutMs } = readServerFlags(flags)
    const { findServer } = await import('../find-server.ts')
    const { withServer } = await import('../connect.ts')
    const { listOffers } = await import('../list-offers.ts')

    const address = await findServer(this.app, server, transport)
    const offers = await withServer(
      address,
      { timeoutMs, signal: this.context.signal, log: this.app.log },
      session =>
        listOffers(session, categories, (category, error) =>
          this.app.log.warn(`The ${category} could not be listed: ${messageOf(error)}`),
        ),
    )
    if (flags.format === 'json') this.printJson(offers)
    else this.#printText(offers, categories)
  }

  #printText(offers: Offers, categories: readonly Category[]): void {
    for (const [index, category] of categories.entries()) {
      const rows: readonly Row[] = offers[category] ?? []
      if (index > 0) this.print('')
      this.print(`${category.toUpperCase()}${rows.length ? '' : ': none'}`)
      if (rows.length) this.printTable(COLUMNS[category], rows)
    }
  }
}

function parseCategory(text: string): Category {
  const category = CATEGORIES.find(name => name === text)
  if (category) return category
  throw failures.usage({
    text: `A server offers ${CATEGORIES.join(', ')}; "${text}" is not one of them.`,
    hint: `If it is a workload or a URL: \`keelson mcp list --server ${text}\`.`,
  })
}
