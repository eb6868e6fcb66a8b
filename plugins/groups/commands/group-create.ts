import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'

export class GroupCreate extends BaseCommand {
  static override paths = [['group', 'create']]
  static override usage = BaseCommand.Usage({
    category: 'Groups',
    description: 'create a group',
    details: 'Workloads join it with `run --group NAME`.',
    examples: [['A group for work', '$0 group create work']],
  })
  static override synopsis = 'NAME'

  name = Option.String({ required: true })

  override async execute(): Promise<void> {
    await (await this.app.service('groups')).create(this.name)
  }
}
