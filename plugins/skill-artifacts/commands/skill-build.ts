import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'

const flags = {
  tag: flag.string('name of the build, or the reference to push it to (default: the name of the skill)', {
    short: 't',
    placeholder: 'TAG',
  }),
}

export class SkillBuild extends BaseCommand {
  static override paths = [['skill', 'build']]
  static override usage = BaseCommand.Usage({
    category: 'Skills',
    description: 'pack the skill in a folder as an artifact',
    details:
      'Keeps the artifact on this machine and prints its reference, for `skill install` or `skill push`. The ' +
      'same files give the same digest on every machine. Hidden files are left out, modes and times are not kept.',
    examples: [
      ['Build a skill under its own name', '$0 skill build ./my-skill'],
      ['Build one to be pushed', '$0 skill build ./my-skill --tag ghcr.io/me/my-skill:1.0'],
    ],
  })
  static override synopsis = 'FOLDER'
  static override flags = flags

  folder = Option.String({ required: true })

  override async execute(): Promise<void> {
    const { tag } = this.values(flags)
    const builds = await this.app.service('skillBuilds')
    const { reference, warnings } = await builds.build(this.folder, tag, { signal: this.context.signal })
    for (const warning of warnings) this.say(`warning: ${warning}`)
    this.print(reference)
  }
}
