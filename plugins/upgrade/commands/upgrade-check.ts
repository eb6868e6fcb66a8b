import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { clean } from '../../../src/cli/output.ts'
import { changeLines, factLines } from '../print-check.ts'

const flags = { format: flag.choice('output format', ['text', 'json'], 'text') }

export class UpgradeCheckCommand extends BaseCommand {
  static override paths = [['upgrade', 'check']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'show which workloads have a newer version in the registry',
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
      for (const line of found.flatMap(check => [...factLines(check), ...changeLines(check)])) {
        this.print(clean(line))
      }
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
