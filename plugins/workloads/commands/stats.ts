import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { formatSize } from '../../../src/lib/format-size.ts'

const flags = { format: flag.choice('output format', ['text', 'json'], 'text') }

const sizeOf = (bytes: number | undefined): string => (bytes === undefined ? '-' : formatSize(bytes))

export class Stats extends BaseCommand {
  static override paths = [['stats']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'show how much CPU and memory running servers use',
    details: 'Measured once, for about a second. 100% is one core. Remote servers have no figures.',
  })
  static override synopsis = '[NAME...]'
  static override completes = 'workloads' as const
  static override flags = flags
  static override hints = {
    'no-stream': '`stats` measures once. Omit the flag.',
    a: 'What does not run uses nothing. Omit the flag.',
    all: 'What does not run uses nothing. Omit the flag.',
  }

  names = Option.Rest()

  override async execute(): Promise<void> {
    const { format } = this.values(flags)
    const rows = await (await this.app.service('workloads')).measure(this.names)
    this.printList(rows, {
      format,
      empty: 'No workload is running.',
      columns: [
        { title: 'NAME', of: row => row.name },
        { title: 'CPU', of: row => (row.cpu_percent === undefined ? '-' : `${row.cpu_percent.toFixed(1)}%`) },
        { title: 'MEMORY', of: row => sizeOf(row.memory_bytes) },
        { title: 'LIMIT', of: row => sizeOf(row.memory_limit_bytes) },
        { title: 'INSTANCES', of: row => String(row.instances ?? '-') },
        { title: 'RUNTIME', of: row => row.runtime ?? 'remote' },
      ],
    })
  }
}
