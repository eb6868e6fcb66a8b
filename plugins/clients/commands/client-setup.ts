import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { registerAndReport } from './register-and-report.ts'

const flags = {
  client: flag.commaList('register this client instead of asking', 'CLIENT', { completes: 'clients' }),
  installed: flag.boolean('register all installed client applications instead of asking'),
  group: flag.commaList('group whose workloads the clients get', 'GROUP', {
    completes: 'groups',
    shown: 'default',
  }),
}

export class ClientSetup extends BaseCommand {
  static override paths = [['client', 'setup']]
  static override usage = BaseCommand.Usage({
    category: 'Clients',
    description: 'choose the client applications that use your workloads',
    details:
      'Asks on a terminal. Without one, name applications with --client, or choose all with --installed. An ' +
      'application that cannot speak HTTP is configured to start `keelson proxy stdio WORKLOAD`.',
    examples: [
      ['Choose from a list', '$0 client setup'],
      ['Register what is installed, without questions', '$0 client setup --installed'],
    ],
  })
  static override flags = flags

  override async execute(): Promise<number> {
    const { client, installed, group } = this.values(flags)
    const clients = await this.app.service('clients')
    const { chooseClients } = await import('./choose-clients.ts')
    const choice = await chooseClients({
      all: await clients.status(),
      groups: async () => (await (await this.app.service('groups')).list()).map(({ name }) => name),
      given: { clients: client, installed, groups: group },
      terminal: this.context,
    })
    if (choice.clients.length === 0) {
      this.say(choice.why)
      return 0
    }
    const code = await registerAndReport(this.app, choice.clients, choice.groups, line => this.say(line))
    this.say(`Registered: ${choice.clients.join(', ')}.`)
    return code
  }
}
