import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { skillFlags } from '../flags.ts'
import { describeTrust } from './describe-skill.ts'
import { findPlace } from './find-place.ts'

const flags = {
  clients: skillFlags.clients,
  scope: skillFlags.scope,
  'project-root': skillFlags['project-root'],
  group: flag.string('group that the skill joins', {
    placeholder: 'GROUP',
    completes: 'groups',
    shown: 'default',
  }),
  'allow-unsigned': skillFlags['allow-unsigned'],
  force: flag.boolean(
    'replace what is in the way: another version, edits, or folders that keelson did not make',
  ),
}

export class SkillInstall extends BaseCommand {
  static override paths = [['skill', 'install']]
  static override usage = BaseCommand.Usage({
    category: 'Skills',
    description: 'install a skill for client applications, with the skills that it needs',
    details:
      'Takes a name from the registry, an OCI reference, git://host/owner/repo[@ref][#folder], or the tag of a ' +
      'local build. The skill is installed for all clients or for none. The first signer is remembered, and later ' +
      'versions must have the same signer.',
    examples: [
      ['Install from the registry', '$0 skill install pdf-forms'],
      [
        'Install from a git repository for one client',
        '$0 skill install git://github.com/acme/skills@v1.2#pdf --clients claude-code',
      ],
      [
        'Install in the project of the working folder, and write its lock file',
        '$0 skill install pdf --scope project',
      ],
    ],
  })
  static override synopsis = 'NAME|REFERENCE'
  static override flags = flags

  reference = Option.String({ required: true })

  override async execute(): Promise<void> {
    const { clients, group, 'allow-unsigned': allowUnsigned, force, ...said } = this.values(flags)
    const skills = await this.app.service('skills')
    const place = await findPlace(skills, said)
    const progress = this.progress()
    const details = await skills
      .install({
        ...{ reference: this.reference, ...place, clients, group, allowUnsigned, force },
        ...{ signal: this.context.signal, progress: progress.report },
      })
      .finally(() => progress.done())
    const { metadata, clients: installed = [] } = details.skill
    const version = metadata.version ? ` ${metadata.version}` : ''
    this.print(`Installed ${metadata.name}${version} for ${installed.join(', ')}, ${describeTrust(details)}.`)
  }
}
