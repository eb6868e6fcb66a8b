import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'

const flags = { format: flag.choice('output format', ['text', 'json'], 'text') }

export class AuthList extends BaseCommand {
  static override paths = [['auth', 'list']]
  static override usage = BaseCommand.Usage({
    category: 'Remote servers',
    description: 'list the logins to remote servers',
  })
  static override flags = flags

  override async execute(): Promise<void> {
    const keeper = await this.app.service('remoteLogins')
    const logins = (await keeper.list()).map(
      ([, { origin, discovery, client, scopes, loggedInAt }, keptIn]) => ({
        server: origin,
        issuer: discovery.issuer,
        client: client.clientId,
        scopes,
        logged_in_at: loggedInAt,
        kept_in: keptIn === 'secrets' ? 'secrets' : 'memory',
      }),
    )
    this.printList(logins, {
      format: this.values(flags).format,
      empty: 'There are no logins.',
      columns: [
        { title: 'SERVER', of: login => login.server },
        { title: 'ISSUER', of: login => login.issuer },
        { title: 'SCOPES', of: login => login.scopes.join(' ') },
        { title: 'SINCE', of: login => login.logged_in_at },
        { title: 'KEPT IN', of: login => login.kept_in },
      ],
    })
  }
}
