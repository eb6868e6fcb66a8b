import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'

const KEPT_IN = { secrets: 'the secrets provider', memory: "the memory of keelson's background process" }

const flags = { format: flag.choice('output format', ['text', 'json'], 'text') }

export class AuthStatus extends BaseCommand {
  static override paths = [['auth', 'status']]
  static override usage = BaseCommand.Usage({
    category: 'Remote servers',
    description: 'show logins to remote servers in full, without their tokens',
    details: 'With NAME, shows the login that this workload uses. Connects to no server.',
  })
  static override synopsis = '[NAME]'
  static override completes = 'workloads' as const
  static override flags = flags

  name = Option.String({ required: false })

  override async execute(): Promise<void> {
    const { reportLogins } = await import('../logins/login-report.ts')
    const logins = await reportLogins(this.app, this.name)
    if (this.values(flags).format === 'json') return this.printJson(logins)
    if (logins.length === 0) return this.print('There are no logins.')
    for (const [index, login] of logins.entries()) {
      if (index > 0) this.print('')
      const lines: [string, string | undefined][] = [
        ['Server', login.server],
        ['Issuer', login.issuer],
        ['Client', login.client],
        ['Resource', login.resource],
        ['Scopes', login.scopes.join(' ')],
        ['State', login.state],
        ['Reason', login.reason],
        ['Workloads', login.workloads.join(', ')],
        ['Logged in', login.logged_in_at],
        ['Kept in', KEPT_IN[login.kept_in]],
        ['Token until', login.token_expires_at],
        ['Client until', login.client_expires_at],
      ]
      for (const [title, value] of lines) if (value) this.print(`${`${title}:`.padEnd(14)}${value}`)
    }
  }
}
