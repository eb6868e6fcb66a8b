import { BaseCommand } from '../../../src/cli/base-command.ts'
import { SecretsCommand } from './secrets-command.ts'

export class SecretUnlock extends SecretsCommand {
  static override paths = [['secret', 'unlock']]
  static override usage = BaseCommand.Usage({
    category: 'Secrets',
    description: 'type the password of the secrets once for this session',
    details:
      'The password is kept in XDG_RUNTIME_DIR, which only you can read, until you log out. Servers that need secrets ' +
      'start without a question until then. It may be piped in.',
  })

  override async execute(): Promise<void> {
    const secrets = await this.secrets()
    secrets.askWith(question => this.readSecret(question))
    this.say(
      (await secrets.unlock())
        ? 'The secrets can be read until you log out, or type `keelson secret lock`.'
        : 'No password has to be typed for the secrets here.',
    )
  }
}
