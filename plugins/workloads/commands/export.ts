import { resolve } from 'node:path'
import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { writeUserFile } from '../../../src/user-file.ts'

const flags = { format: flag.choice('format of the file', ['json'], 'json') }

export class Export extends BaseCommand {
  static override paths = [['export']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'write the run config of a workload to a file, or print it',
    details:
      '`run --from-config FILE` runs it again, here or elsewhere. Values that were given with -e are in the file.',
  })
  static override synopsis = 'NAME [FILE]'
  static override completes = 'workloads' as const
  static override flags = flags

  name = Option.String({ required: true })
  file = Option.String({ required: false })

  override async execute(): Promise<void> {
    this.values(flags)
    const config = await (await this.app.service('workloads')).config(this.name)
    const text = `${JSON.stringify(config, null, 2)}\n`
    if (this.file === undefined || this.file === '-') return this.printContent(text)
    const path = resolve(this.file)
    await writeUserFile(path, text)
    this.print(`${this.name} is exported to ${path}.`)
  }
}
