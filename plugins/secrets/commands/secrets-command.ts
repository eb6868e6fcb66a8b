import { BaseCommand } from '../../../src/cli/base-command.ts'
import type { Secrets } from '../service.ts'
import type { Person } from '../with-person.ts'

/** Commands that may have to ask for the password of the secrets. */
export abstract class SecretsCommand extends BaseCommand {
  protected async secrets(): Promise<Secrets> {
    const secrets = await this.app.service('secrets')
    // What is piped in is the command's own input.
    if (this.onTerminal) secrets.askWith(question => this.readSecret(question))
    return secrets
  }

  protected get person(): Person {
    return {
      ask: async (question, { hidden = false } = {}) =>
        hidden
          ? this.readSecret(question)
          : (await import('../../../src/cli/prompt.ts')).ask(this.context, `${question} `),
      say: text => this.say(text),
    }
  }

  /** Names the workloads whose run config refers to the secret. */
  protected async warnUsers(secrets: Secrets, name: string, what: string): Promise<void> {
    const users = await secrets.usedBy(name)
    if (users.length === 0) return
    this.say(`${users.join(', ')} ${users.length === 1 ? 'uses' : 'use'} "${name}". ${what}`)
  }
}
