import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { clean } from '../../../src/cli/output.ts'

const flags = { format: flag.choice('output format', ['text', 'json'], 'text') }

export class SkillContentCommand extends BaseCommand {
  static override paths = [['skill', 'content']]
  static override usage = BaseCommand.Usage({
    category: 'Skills',
    description: 'show the text and the files of a skill without installing it',
    details: 'The skill is neither run nor kept, and its signature is not checked.',
    examples: [
      ['A skill of the registry', '$0 skill content skill-creator'],
      ['A folder of a repository', '$0 skill content git://github.com/anthropics/skills#skills/mcp-builder'],
    ],
  })
  static override synopsis = 'NAME|REFERENCE'
  static override flags = flags

  reference = Option.String({ required: true })

  override async execute(): Promise<void> {
    const { format } = this.values(flags)
    const sources = await this.app.service('skillSources')
    const progress = this.progress()
    const skill = await sources
      .preview(this.reference, { signal: this.context.signal, progress: progress.report })
      .finally(() => progress.done())
    if (format === 'json') return this.printJson(skill)
    const { name, description, version, license, files, body } = skill
    const lines: readonly (readonly [string, string | undefined])[] = [
      ['Name', name],
      ['Version', version],
      ['License', license],
      ['Description', description],
    ]
    for (const [title, value] of lines) if (value) this.print(`${title}: ${clean(value)}`)
    this.print('')
    this.printTable(
      [
        { title: 'FILE', of: file => file.path },
        { title: 'BYTES', of: file => String(file.size) },
      ],
      files,
    )
    this.print('')
    for (const line of body.trimEnd().split(/\r?\n/)) this.print(line.split('\t').map(clean).join('\t'))
  }
}
