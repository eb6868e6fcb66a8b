import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { clean } from '../../../src/cli/output.ts'
import { skillFlags } from '../flags.ts'
import { describeTrust } from './describe-skill.ts'
import { findPlace } from './find-place.ts'

const flags = {
  scope: skillFlags.scope,
  'project-root': skillFlags['project-root'],
  format: skillFlags.format,
}

export class SkillInfo extends BaseCommand {
  static override paths = [['skill', 'info']]
  static override usage = BaseCommand.Usage({
    category: 'Skills',
    description: 'show an installed skill, and who signed it',
  })
  static override synopsis = 'NAME'
  static override completes = 'skills' as const
  static override flags = flags

  name = Option.String({ required: true })

  override async execute(): Promise<void> {
    const { format, ...said } = this.values(flags)
    const skills = await this.app.service('skills')
    const { skill, ...trust } = await skills.get(this.name, await findPlace(skills, said))
    const { metadata, ...installed } = skill
    if (format === 'json') return this.printJson({ metadata, installed_skill: skill, ...trust })
    const lines: readonly (readonly [string, string | undefined])[] = [
      ['Name', metadata.name],
      ['Version', metadata.version],
      ['Signature', describeTrust(trust)],
      ['Cert issuer', trust.provenance?.certIssuer],
      ['Description', metadata.description],
      ['Scope', installed.scope],
      ['Project', installed.project_root],
      ['Status', installed.status],
      ['Reference', installed.reference],
      ['Digest', installed.digest],
      ['Installed at', installed.installed_at],
      ['Clients', installed.clients?.join(', ')],
      ['Needs', installed.dependencies?.map(({ name }) => name).join(', ')],
    ]
    for (const [title, text] of lines) if (text) this.print(`${title}: ${clean(text)}`)
  }
}
