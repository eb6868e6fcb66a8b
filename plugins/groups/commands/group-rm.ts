import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'

const flags = {
  'with-workloads': flag.boolean('also stop and remove its workloads'),
  yes: flag.boolean('do not ask', { short: 'y' }),
}

export class GroupRemove extends BaseCommand {
  static override paths = [['group', 'rm']]
  static override usage = BaseCommand.Usage({
    category: 'Groups',
    description: 'remove a group',
    details:
      'Its workloads move to the group "default", or are removed too with --with-workloads. Asks first if there are any.',
  })
  static override synopsis = 'NAME'
  static override completes = 'groups' as const
  static override flags = flags

  name = Option.String({ required: true })

  override async execute(): Promise<void> {
    const { 'with-workloads': withWorkloads, yes } = this.values(flags)
    const groups = await this.app.service('groups')
    await groups.assertRemovable(this.name)
    const members = await groups.members(this.name)
    if (members.length && !yes) {
      const fate = withWorkloads ? 'will be stopped and removed' : 'will move to the group "default"'
      this.say(`Workloads of "${this.name}", which ${fate}: ${members.join(', ')}`)
      if (!(await this.confirm(`Remove the group "${this.name}"?`))) return this.say('Nothing was changed.')
    }
    await groups.remove(this.name, { workloads: withWorkloads ? 'remove' : 'move' })
  }
}
