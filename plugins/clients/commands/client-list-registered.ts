import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'

const flags = { format: flag.choice('output format', ['text', 'json'], 'text') }

export class ClientListRegistered extends BaseCommand {
  static override paths = [['client', 'list-registered']]
  static override usage = BaseCommand.Usage({
    category: 'Clients',
    description: 'list the registered client applications with their groups',
    examples: [['List them as JSON', '$0 client list-registered --format json']],
  })
  static override flags = flags

  override async execute(): Promise<void> {
    const { format } = this.values(flags)
    const clients = await this.app.service('clients')
    const registered = await clients.listRegistered()
    this.printList(registered, {
      format,
      empty: 'No clients are registered.',
      columns: [
        { title: 'CLIENT TYPE', of: client => client.name },
        { title: 'GROUPS', of: client => client.groups.join(', ') },
      ],
    })
  }
}
