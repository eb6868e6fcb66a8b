import { BaseCommand } from '../../../src/cli/base-command.ts'
import type { Registry } from '../service.ts'

/** Commands that may need the login to the registry, and so the password of the secrets it is kept among. */
export abstract class RegistryCommand extends BaseCommand {
  protected async registry(): Promise<Registry> {
    const settings = await this.app.service('settings')
    if (await settings.get('registry_auth')) await this.askForPasswords()
    return this.app.service('registry')
  }

  /** Lets the following steps ask the user at the terminal. */
  protected async askForPasswords(): Promise<void> {
    if (!this.onTerminal) return
    const secrets = await this.app.service('secrets')
    secrets.askWith(question => this.readSecret(question))
  }
}
