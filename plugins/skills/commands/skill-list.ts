import { resolve } from 'node:path'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { skillFlags } from '../flags.ts'

const flags = {
  scope: flag.choice('list only skills of the user, or of projects', ['user', 'project']),
  client: flag.string('list only skills of this client application', {
    placeholder: 'CLIENT',
    completes: 'clients',
  }),
  group: flag.string('list only skills of this group', { placeholder: 'GROUP', completes: 'groups' }),
  'project-root': flag.string('list only skills of this project', {
    placeholder: 'FOLDER',
    completes: 'directory',
  }),
  format: skillFlags.format,
}

export class SkillList extends BaseCommand {
  static override paths = [
    ['skill', 'list'],
    ['skill', 'ls'],
  ]
  static override usage = BaseCommand.Usage({ category: 'Skills', description: 'list installed skills' })
  static override flags = flags

  override async execute(): Promise<void> {
    const { format, 'project-root': root, ...filter } = this.values(flags)
    const skills = await this.app.service('skills')
    const found = await skills.list({
      ...filter,
      ...(root === undefined ? {} : { projectRoot: resolve(root) }),
    })
    this.printList(found, {
      format,
      empty: 'No skills are installed.',
      columns: [
        { title: 'NAME', of: skill => skill.metadata.name },
        { title: 'VERSION', of: skill => skill.metadata.version },
        { title: 'SCOPE', of: skill => skill.scope },
        { title: 'STATUS', of: skill => skill.status },
        { title: 'CLIENTS', of: skill => skill.clients?.join(', ') ?? '', cut: 'end' },
        { title: 'REFERENCE', of: skill => skill.reference ?? '', cut: 'middle' },
      ],
    })
  }
}
