import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { SecretsCommand } from './secrets-command.ts'

const flags = { yes: flag.boolean('do not ask', { short: 'y' }) }

export class SecretResetKeyring extends SecretsCommand {
  static override paths = [['secret', 'reset-keyring']]
  static override usage = BaseCommand.Usage({
    category: 'Secrets',
    description: 'delete the key of the secrets from the keyring of this system',
    details: 'A file that was encrypted with that key can never be opened again. The file itself stays.',
  })
  static override flags = flags

  override async execute(): Promise<void> {
    if (!this.values(flags).yes) {
      this.say('Secrets that were encrypted with the key in the keyring can never be read again without it.')
      if (!(await this.confirm('Take the key out of the keyring?'))) return this.say('Nothing was changed.')
    }
    if (!(await (await this.secrets()).resetKeyring())) this.say('There was no key in the keyring.')
  }
}
