import { BaseCommand } from '../../../src/cli/base-command.ts'
import { SecretsCommand } from './secrets-command.ts'

export class SecretLock extends SecretsCommand {
  static override paths = [['secret', 'lock']]
  static override usage = BaseCommand.Usage({
    category: 'Secrets',
    description: 'delete the password that `secret unlock` keeps for this session',
    details:
      'A supervisor that has opened the secrets can read them until it ends: `keelson supervisor stop` ends it.',
  })

  override async execute(): Promise<void> {
    if (!(await (await this.secrets()).lock())) this.say('No password was kept.')
  }
}
