import { resolve } from 'node:path'
import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { SecretsCommand } from './secrets-command.ts'

const flags = {
  'password-file': flag.file('encrypted: file that holds the password; its path is remembered'),
  key: flag.choice('encrypted: what protects a new file', ['keyring', 'password']),
}

export class SecretProvider extends SecretsCommand {
  static override paths = [['secret', 'provider']]
  static override usage = BaseCommand.Usage({
    category: 'Secrets',
    description: 'choose where secrets are kept, without questions',
    details:
      'TYPE is encrypted, environment, 1password, or one that a plugin adds. The provider is tested first. ' +
      'encrypted takes the password from --password-file, KEELSON_SECRETS_PASSWORD_FILE or ' +
      'KEELSON_SECRETS_PASSWORD. Without one, it keeps a random key in the keyring of this system. Without a ' +
      'keyring, it asks for a password. Secrets of the previous provider stay where they are.',
    examples: [
      ['On a desktop', '$0 secret provider encrypted'],
      ['On a server', '$0 secret provider encrypted --password-file /etc/keelson/password'],
    ],
  })
  static override synopsis = 'TYPE'
  static override flags = flags

  type = Option.String({ required: true })

  override async execute(): Promise<void> {
    const { 'password-file': file, key } = this.values(flags)
    const passwordFile = file === undefined ? undefined : resolve(file)
    await (await this.secrets()).setUp(this.type, { passwordFile, keyFrom: key })
  }
}
