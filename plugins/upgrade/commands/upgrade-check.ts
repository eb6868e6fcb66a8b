import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { clean } from '../../../src/cli/output.ts'
import type { UpgradeCheck } from '../upgrade-check.ts'

const flags = { format: flag.choice('how to print', ['text', 'json'], 'text') }

export class UpgradeCheckCommand extends BaseCommand {
  static override paths = [['upgrade', 'check']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'say which workloads the registry has something newer for',
    details: 'Compares names and versions only; no image is fetched and nothing is changed.',
    examples: [
      ['All workloads', '$0 upgrade check'],
      ['What an upgrade would bring', '$0 upgrade check github'],
    ],
  })
  static override synopsis = '[NAME]'
  static override completes = 'workloads' as const
  static override flags = flags

  name = Option.String({ required: false })

  override async execute(): Promise<void> {
    const upgrades = await this.app.service('upgrades')
    const { format } = this.values(flags)
    const found = this.name ? [await upgrades.check(this.name)] : await upgrades.checkAll({ all: true })
    if (format === 'json') return this.printJson(found)
    if (this.name) {
      for (const line of found.flatMap(toLines)) this.print(clean(line))
      return
    }
    if (found.length === 0) return this.print('There are no workloads.')
    this.printTable(
      [
        { title: 'NAME', of: row => row.workload_name },
        { title: 'STATUS', of: row => row.status },
        { title: 'CURRENT', of: row => row.current_image ?? '-' },
        { title: 'CANDIDATE', of: row => row.candidate_image ?? '-' },
        { title: 'NEW-ENV', of: row => String(row.env_var_drift?.added.length || '-') },
        { title: 'POSTURE', of: row => (row.config_drift ? 'drift' : '-') },
      ],
      found,
    )
  }
}

function toLines(check: UpgradeCheck): string[] {
  const { added = [], removed = [] } = check.env_var_drift ?? {}
  const { transport, permission_profile: profile } = check.config_drift ?? {}
  const facts = [
    ['Workload', check.workload_name],
    ['Status', check.status],
    ['Registry', check.registry_server],
    ['Current', check.current_image],
    ['Candidate', check.candidate_image],
    ['Reason', check.reason],
  ] as const
  return [
    ...facts.flatMap(([title, value]) => (value ? [`${`${title}:`.padEnd(11)}${value}`] : [])),
    ...(added.length ? ['New variables:'] : []),
    ...added.map(one => {
      const marks = [one.required && 'required', one.secret && 'secret'].filter(Boolean).join(', ')
      return `  ${one.name}${marks ? ` (${marks})` : ''}${one.description ? `: ${one.description}` : ''}`
    }),
    ...(removed.length ? ['Variables no longer used:'] : []),
    ...removed.map(({ name }) => `  ${name}`),
    ...(transport || profile ? ['Posture:'] : []),
    ...(transport ? [`  transport: ${transport.from} -> ${transport.to}`] : []),
    ...(profile ? [`  permission profile: ${profile.from} -> ${profile.to}`] : []),
  ]
}
