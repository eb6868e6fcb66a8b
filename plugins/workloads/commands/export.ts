import { mkdir } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { writeFileAtomic } from '../../../src/lib/atomic-file.ts'

const flags = { format: flag.choice('format of the file', ['json'], 'json') }

export class Export extends BaseCommand {
  static override paths = [['export']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'write the run config of a workload to a file',
    details:
      '`run --from-config FILE` runs it again, here or elsewhere. Values given with -e are in the file.',
  })
  static override synopsis = 'NAME FILE'
  static override completes = 'workloads' as const
  static override flags = flags

  name = Option.String({ required: true })
  file = Option.String({ required: true })

  override async execute(): Promise<void> {
    this.values(flags)
    const config = await (await this.app.service('workloads')).config(this.name)
    const path = resolve(this.file)
    await mkdir(dirname(path), { recursive: true, mode: 0o750 })
    await writeFileAtomic(path, `${JSON.stringify(config, null, 2)}\n`, 0o600)
    this.print(`${this.name} is exported to ${path}.`)
  }
}
