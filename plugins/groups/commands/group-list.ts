import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'

const flags = { format: flag.choice('output format', ['text', 'json'], 'text') }

export class GroupList extends BaseCommand {
  static override paths = [['group', 'list']]
  static override usage = BaseCommand.Usage({ category: 'Groups', description: 'list groups' })
  static override flags = flags

  override async execute(): Promise<void> {
    const { format } = this.values(flags)
    const groups = await (await this.app.service('groups')).list()
    this.printList(groups, { format, columns: [{ title: 'NAME', of: group => group.name }] })
  }
}
