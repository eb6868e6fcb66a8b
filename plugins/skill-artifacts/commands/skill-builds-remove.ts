import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'

export class SkillBuildsRemove extends BaseCommand {
  static override paths = [['skill', 'builds', 'remove']]
  static override usage = BaseCommand.Usage({
    category: 'Skills',
    description: 'remove a build from this machine',
    details: 'What was pushed stays in its registry; what is installed stays installed.',
  })
  static override synopsis = 'TAG'

  tag = Option.String({ required: true })

  override async execute(): Promise<void> {
    await (await this.app.service('skillBuilds')).remove(this.tag)
    this.print(`Removed the build ${this.tag}.`)
  }
}
