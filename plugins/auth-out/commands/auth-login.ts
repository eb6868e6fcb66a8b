import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { ask } from '../../../src/cli/prompt.ts'

const flags = {
  'skip-browser': flag.boolean('print the URL to log in at, and do not open a browser'),
}

export class AuthLogin extends BaseCommand {
  static override paths = [['auth', 'login']]
  static override usage = BaseCommand.Usage({
    category: 'Remote servers',
    description: 'log in to the remote server of a workload',
    details: 'Asks for a new login even if there is one. All workloads of that server use the new login.',
    examples: [['Log in again', '$0 auth login example']],
  })
  static override synopsis = 'WORKLOAD'
  static override completes = 'workloads' as const
  static override flags = flags

  name = Option.String({ required: true })

  override async execute(): Promise<void> {
    const { logInAgain } = await import('../logins/log-in-again.ts')
    const { 'skip-browser': skip } = this.values(flags)
    const { issuer, lasting } = await logInAgain(this.app, this.name, {
      browser: !skip,
      signal: this.context.signal,
      say: text => this.say(text),
      ask: (question, { signal } = {}) => ask(this.context, `${question}: `, { signal }),
    })
    this.say(`Logged in at ${issuer}.`)
    if (lasting) this.say(lasting)
  }
}
