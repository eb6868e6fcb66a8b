import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import type { Status } from '../../../src/contracts/workload.ts'
import { failures } from '../../../src/errors.ts'

const flags = {
  all: flag.boolean('also those that do not run', false, { short: 'a' }),
  format: flag.choice(
    'how to print; mcpservers is what clients paste',
    ['text', 'json', 'mcpservers'],
    'text',
  ),
  label: flag.list('only those with this label; all must match', 'KEY=VALUE', { short: 'l' }),
  group: flag.string('only those of this group', { placeholder: 'GROUP' }),
}

/** Marks of the statuses that want attention. */
const MARK: Partial<Record<Status, string>> = {
  unauthenticated: '⚠️ ',
  auth_retrying: '🔄 ',
  policy_stopped: '🚫 ',
}

export class List extends BaseCommand {
  static override paths = [['list'], ['ls']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'list workloads',
    examples: [['What to paste into a client', '$0 list --format mcpservers']],
  })
  static override flags = flags

  override async execute(): Promise<void> {
    const { all, format, label, group } = this.values(flags)
    const labels = label.map(readFilter)
    if (group !== undefined) (await this.app.service('groups')).assertName(group)
    const found = await (await this.app.service('workloads')).list({ all, group, labels })
    if (format === 'json') return this.printJson(found)
    if (format === 'mcpservers') {
      const servers = found.map(({ name, url, proxy_mode }) => [name, { url, type: proxy_mode }] as const)
      return this.printJson({ mcpServers: Object.fromEntries(servers) })
    }
    if (found.length === 0) {
      const where = group === undefined ? '' : ` in group "${group}"`
      return this.print(all ? `There are no workloads${where}.` : `No workload is running${where}.`)
    }
    this.printTable(
      [
        { title: 'NAME', of: row => row.name },
        { title: 'PACKAGE', of: row => row.package },
        { title: 'STATUS', of: row => `${MARK[row.status] ?? ''}${row.status}` },
        { title: 'URL', of: row => row.url },
        { title: 'PORT', of: row => String(row.port) },
        { title: 'GROUP', of: row => row.group ?? '' },
        { title: 'CREATED', of: row => row.created_at },
      ],
      found,
    )
  }
}

function readFilter(text: string): [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw failures.usage({ text: `--label takes KEY=VALUE, not "${text}".` })
  return [text.slice(0, at), text.slice(at + 1)]
}
