import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import type { Status, Workload } from '../../../src/contracts/workload.ts'
import { failures } from '../../../src/errors.ts'
import { callerHeaders } from '../../callers/index.ts'

const flags = {
  all: flag.boolean('also those that do not run', { short: 'a' }),
  format: flag.choice(
    'how to print; mcpservers is what clients paste',
    ['text', 'json', 'mcpservers'],
    'text',
  ),
  label: flag.list('only those with this label; all must match', 'KEY=VALUE', { short: 'l' }),
  group: flag.string('only those of this group', { placeholder: 'GROUP' }),
  'check-upgrades': flag.boolean('also show which have a newer version in the registry'),
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

export class List extends BaseCommand {
  static override paths = [['list'], ['ls']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'list workloads',
    examples: [['What to paste into a client', '$0 list --format mcpservers']],
  })
  static override flags = flags

  override async execute(): Promise<void> {
    const { all, format, label, group, 'check-upgrades': checks } = this.values(flags)
    if (checks && format === 'mcpservers') {
      throw failures.usage({ text: '--check-upgrades goes with --format text or json only.' })
    }
    const labels = label.map(readFilter)
    if (group !== undefined) (await this.app.service('groups')).assertName(group)
    const listed = await (await this.app.service('workloads')).list({ all, group, labels })
    const found: readonly Listed[] = checks ? await this.#withUpgrades(listed, { all, group }) : listed
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
    this.printTable(
      [
        { title: 'NAME', of: row => row.name },
        { title: 'PACKAGE', of: row => row.package },
        {
          title: 'STATUS',
          of: row => `${MARK[row.status] ?? ''}${row.status}${row.no_sandbox ? ' (no sandbox)' : ''}`,
        },
        { title: 'URL', of: row => row.url },
        { title: 'PORT', of: row => String(row.port) },
        { title: 'GROUP', of: row => row.group ?? '' },
        { title: 'CREATED', of: row => row.created_at },
        ...(checks ? [{ title: 'UPGRADE', of: toMark }] : []),
      ],
      found,
    )
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
