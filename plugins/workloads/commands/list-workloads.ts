import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { type Column, isTerminal } from '../../../src/cli/output.ts'
import type { Status, Workload } from '../../../src/contracts/workload.ts'
import { failures } from '../../../src/errors.ts'
import { callerHeaders } from '../../callers/index.ts'
import { reasonOf, statusColour, statusText } from '../status-text.ts'

const flags = {
  all: flag.boolean('also list workloads that are not running', { short: 'a' }),
  format: flag.choice(
    'output format; mcpservers is for pasting into a client',
    ['text', 'json', 'mcpservers'],
    'text',
  ),
  label: flag.list('list only workloads with this label; all labels must match', 'KEY=VALUE', { short: 'l' }),
  group: flag.string('list only workloads of this group', { placeholder: 'GROUP', completes: 'groups' }),
  quiet: flag.boolean('print only the names', { short: 'q' }),
  wide: flag.boolean('show the whole table, even if it is wider than the terminal', { short: 'w' }),
  'check-upgrades': flag.boolean('also show which workloads have a newer version in the registry'),
}

interface Listed extends Workload {
  readonly upgrade?: { readonly status: string }
}

/** Marks of the statuses that want attention. */
const MARK: Partial<Record<Status, string>> = {
  unauthenticated: '⚠️ ',
  auth_retrying: '🔄 ',
  policy_stopped: '🚫 ',
}

const NAME: Column<Listed> = { title: 'NAME', of: row => row.name }
const PACKAGE: Column<Listed> = { title: 'PACKAGE', of: row => row.package, cut: 'middle' }
const URL: Column<Listed> = { title: 'URL', of: row => row.url }
const UPGRADE: Column<Listed> = { title: 'UPGRADE', of: row => toMark(row) }

const statusOf = (row: Listed): string =>
  `${MARK[row.status] ?? ''}${row.status}${row.no_sandbox ? ' (no sandbox)' : ''}`

/** What fits a terminal. */
const BRIEF: readonly Column<Listed>[] = [
  NAME,
  { title: 'STATUS', of: row => statusText(row, Date.now()), colour: statusColour },
  URL,
  PACKAGE,
]

/** What scripts read; columns are added at the end only. */
const FULL: readonly Column<Listed>[] = [
  NAME,
  PACKAGE,
  { title: 'STATUS', of: statusOf },
  URL,
  { title: 'PORT', of: row => String(row.port) },
  { title: 'GROUP', of: row => row.group ?? '' },
  { title: 'CREATED', of: row => row.created_at },
]

export class List extends BaseCommand {
  static override paths = [['list'], ['ls'], ['ps']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'list workloads',
    examples: [['Print the configuration to paste into a client', '$0 list --format mcpservers']],
  })
  static override flags = flags
  static override hints = {
    f: '`--label KEY=VALUE` and `--group GROUP` choose what is listed.',
    filter: '`--label KEY=VALUE` and `--group GROUP` choose what is listed.',
    A: 'Add --all.',
    n: '`--group GROUP` chooses what is listed.',
    o: 'Use `--format json`, or `--wide` for the whole table.',
    output: 'Use `--format json`, or `--wide` for the whole table.',
    'no-trunc': 'Use --wide.',
  }

  override async execute(): Promise<void> {
    const { all, format, label, group, quiet, wide, 'check-upgrades': checks } = this.values(flags)
    if (checks && format === 'mcpservers') {
      throw failures.usage({ text: '--check-upgrades works with --format text or json only.' })
    }
    const labels = label.map(readFilter)
    if (group !== undefined) await (await this.app.service('groups')).assertExists(group)
    const listed = await (await this.app.service('workloads')).list({ all, group, labels })
    const found: readonly Listed[] = checks ? await this.#withUpgrades(listed, { all, group }) : listed
    if (quiet) {
      for (const { name } of found) this.print(name)
      return
    }
    if (format === 'json') return this.printJson(found)
    if (format === 'mcpservers') {
      const headers = callerHeaders(await (await this.app.service('callerToken')).required())
      const shown = Object.keys(headers).length ? { headers } : {}
      const servers = found.map(({ name, url, proxy_mode: type }) => [name, { url, type, ...shown }] as const)
      return this.printJson({ mcpServers: Object.fromEntries(servers) })
    }
    if (found.length === 0) {
      const where = group === undefined ? '' : ` in group "${group}"`
      return this.print(all ? `There are no workloads${where}.` : `No workload is running${where}.`)
    }
    const brief = !wide && isTerminal(this.context.stdout)
    this.printTable([...(brief ? BRIEF : FULL), ...(checks ? [UPGRADE] : [])], found, { wide })
    const explained = brief ? found.filter(reasonOf) : []
    if (explained.length) this.print('')
    for (const row of explained) this.print(`${row.name}: ${reasonOf(row)}`)
  }

  /** Upgrades are another plugin's; without it nothing but this flag is missing. */
  async #withUpgrades(
    listed: readonly Workload[],
    filter: { all: boolean; group: string | undefined },
  ): Promise<Listed[]> {
    const checked = await (await this.app.service('upgrades')).checkAll(filter)
    const byName = new Map(checked.map(check => [check.workload_name, check]))
    return listed.map(workload => {
      const upgrade = byName.get(workload.name)
      return upgrade ? { ...workload, upgrade } : workload
    })
  }
}

const toMark = ({ upgrade }: Listed): string =>
  upgrade && upgrade.status !== 'unknown' ? upgrade.status : '-'

function readFilter(text: string): [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw failures.usage({ text: `--label takes KEY=VALUE, not "${text}".` })
  return [text.slice(0, at), text.slice(at + 1)]
}
