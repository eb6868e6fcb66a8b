import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { failures } from '../../../src/errors.ts'

const flags = { all: flag.boolean('end all logins to remote servers') }

export class AuthLogout extends BaseCommand {
  static override paths = [['auth', 'logout']]
  static override usage = BaseCommand.Usage({
    category: 'Remote servers',
    description: 'end the login to the remote server of a workload',
    details:
      'Deletes the login, and revokes it at its identity provider where that is possible (RFC 7009). All workloads ' +
      'that use it become `unauthenticated` within seconds and stop sending its access token.',
    examples: [
      ['Log out of one server', '$0 auth logout example'],
      ['Log out everywhere', '$0 auth logout --all'],
    ],
  })
  static override synopsis = 'NAME|--all'
  static override completes = 'workloads' as const
  static override flags = flags

  name = Option.String({ required: false })

  override async execute(): Promise<void> {
    const { all } = this.values(flags)
    if (all === (this.name !== undefined)) {
      throw failures.usage({ text: 'Name a workload, or give --all.' })
    }
    const { logOut } = await import('../logins/log-out.ts')
    const ended = await logOut(this.app, this.name, this.context.signal)
    if (ended.length === 0) return this.say('There are no logins.')
    for (const { issuer, problem } of ended) {
      this.say(`Logged out of ${issuer}.`)
      if (problem === undefined) continue
      this.say(`Warning: it was not told: ${problem}. What it has given out is good there until it expires.`)
    }
  }
}
