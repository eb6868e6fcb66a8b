import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { SecretsCommand } from './secrets-command.ts'

const flags = { system: flag.boolean('delete one of the secrets that keelson itself keeps') }

export class SecretDelete extends SecretsCommand {
  static override paths = [['secret', 'delete']]
  static override usage = BaseCommand.Usage({ category: 'Secrets', description: 'delete a secret' })
  static override synopsis = 'NAME'
  static override completes = 'secrets' as const
  static override flags = flags

  name = Option.String({ required: true })

  override async execute(): Promise<void> {
    const secrets = await this.secrets()
    if (this.values(flags).system) return secrets.deleteSystem(this.name)
    await secrets.delete(this.name)
    await this.warnUsers(secrets, this.name, 'Without it they cannot start again.')
  }
}
