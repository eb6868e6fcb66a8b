import { BaseCommand } from '../../../src/cli/base-command.ts'
import { fold } from '../../../src/cli/fold.ts'
import { widthOf } from '../../../src/cli/output.ts'
import { failures } from '../../../src/errors.ts'
import type { ProviderChoice } from '../service.ts'
import { SecretsCommand } from './secrets-command.ts'

export class SecretSetup extends SecretsCommand {
  static override paths = [['secret', 'setup']]
  static override usage = BaseCommand.Usage({
    category: 'Secrets',
    description: 'choose where secrets are kept, step by step',
    details: 'Asks on the terminal. `secret provider` does the same without questions.',
  })

  override async execute(): Promise<void> {
    if (!this.onTerminal) {
      throw failures.usage({
        text: '`secret setup` asks, and there is no terminal to ask on.',
        hint: 'Use `keelson secret provider TYPE`.',
      })
    }
    const secrets = await this.secrets()
    const choices = await secrets.choices()
    this.say('Where do you want to keep secrets?')
    choices.forEach(({ type, description, current }, i) => {
      const text = `  ${i + 1}) ${type}: ${description}${current ? ' (in use)' : ''}`
      this.say(fold(text, { width: widthOf(this.context.stderr), indent: 5 }))
    })
    const type = await this.#choose(choices)
    await secrets.setUpWith(type, this.person)
    this.say(`The provider ${type} keeps secrets from now on. Store one with \`keelson secret set NAME\`.`)
  }

  async #choose(choices: readonly ProviderChoice[]): Promise<string> {
    const { ask } = await import('../../../src/cli/prompt.ts')
    const preset = choices.find(choice => choice.current) ?? choices[0]
    for (;;) {
      const answer = await ask(this.context, `Number or name [${preset?.type}]: `)
      if (answer === undefined) throw failures.usage({ text: 'No choice was made.' })
      const wanted = answer.trim().toLowerCase() || preset?.type
      const found = choices.find(({ type }, i) => type === wanted || String(i + 1) === wanted)
      if (found) return found.type
      this.say(`"${answer.trim()}" is not one of them.`)
    }
  }
}
