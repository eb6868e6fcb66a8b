import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'

export class Inspect extends BaseCommand {
  static override paths = [['inspect']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'print all there is about a workload, as JSON',
    details:
      'Its status, its run config and, as the runtime describes it, its container or process. What looks like a ' +
      'secret is left out; `export` prints the run config in full.',
  })
  static override synopsis = 'NAME'
  static override completes = 'workloads' as const
  static override hints = {
    f: 'It prints JSON as it is. Pick members with a program for JSON: `keelson inspect NAME | jq .config`.',
    format:
      'It prints JSON as it is. Pick members with a program for JSON: `keelson inspect NAME | jq .config`.',
  }

  name = Option.String({ required: true })

  override async execute(): Promise<void> {
    this.printJson(await (await this.app.service('workloads')).inspect(this.name))
  }
}
