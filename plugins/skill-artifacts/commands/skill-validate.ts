import { resolve } from 'node:path'
import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'

const flags = { format: flag.choice('output format', ['text', 'json'], 'text') }

export class SkillValidate extends BaseCommand {
  static override paths = [['skill', 'validate']]
  static override usage = BaseCommand.Usage({
    category: 'Skills',
    description: 'check the skill in a folder',
    details:
      'Reports everything that breaks a rule (errors) and everything that could be better (warnings), with the line ' +
      'in SKILL.md. Exits with 1 if there are errors.',
    examples: [['Check the skill you are writing', '$0 skill validate ./my-skill']],
  })
  static override synopsis = 'FOLDER'
  static override flags = flags

  folder = Option.String({ required: true })

  override async execute(): Promise<number> {
    const { format } = this.values(flags)
    const { validateSkill } = await import('../format/validate-skill.ts')
    const { valid, errors, warnings } = await validateSkill(resolve(this.folder))
    if (format === 'json') {
      this.printJson({
        valid,
        ...(errors.length ? { errors } : {}),
        ...(warnings.length ? { warnings } : {}),
      })
    } else {
      for (const error of errors) this.print(`error: ${error}`)
      for (const warning of warnings) this.print(`warning: ${warning}`)
      if (valid) this.print(`${this.folder} is a valid skill.`)
    }
    return valid ? 0 : 1
  }
}
