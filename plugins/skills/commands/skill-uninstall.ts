import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { skillFlags } from '../flags.ts'
import { findPlace } from './find-place.ts'

const flags = {
  scope: skillFlags.scope,
  'project-root': skillFlags['project-root'],
  force: flag.boolean('remove it even if it was edited, or if other skills need it'),
}

export class SkillUninstall extends BaseCommand {
  static override paths = [['skill', 'uninstall']]
  static override usage = BaseCommand.Usage({
    category: 'Skills',
    description: 'remove a skill from all clients, with the skills that only it needs',
    examples: [
      ['Remove it from the project of the working folder', '$0 skill uninstall pdf --scope project'],
    ],
  })
  static override synopsis = 'NAME'
  static override completes = 'skills' as const
  static override flags = flags

  name = Option.String({ required: true })

  override async execute(): Promise<void> {
    const { force, ...said } = this.values(flags)
    const skills = await this.app.service('skills')
    await skills.uninstall(this.name, { ...(await findPlace(skills, said)), force })
  }
}
