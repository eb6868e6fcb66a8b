import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { SecretsCommand } from './secrets-command.ts'

export class SecretSet extends SecretsCommand {
  static override paths = [['secret', 'set']]
  static override usage = BaseCommand.Usage({
    category: 'Secrets',
    description: 'store a secret',
    details:
      'The value is read from standard input (without one final line break), or asked for without echo.',
    examples: [
      ['Type a value', '$0 secret set GITHUB_TOKEN'],
      ['Take it from a file', '$0 secret set GITHUB_TOKEN < token.txt'],
    ],
  })
  static override synopsis = 'NAME'
  static override surplus =
    'Type the value when it is asked for, or pipe it in: arguments are seen by other programs of this machine.'
  static override completes = 'secrets' as const

  name = Option.String({ required: true })

  override async execute(): Promise<void> {
    const secrets = await this.secrets()
    await secrets.assertCanStore(this.name)
    await secrets.set(this.name, await this.readSecret(`Value of ${this.name}`))
    await this.warnUsers(secrets, this.name, 'The new value counts from the next start: stop, then start.')
  }
}
