import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { byId } from '../by-id.ts'

const flags = { format: flag.choice('output format', ['text', 'json'], 'text') }

export class ClientStatusCommand extends BaseCommand {
  static override paths = [['client', 'status']]
  static override usage = BaseCommand.Usage({
    category: 'Clients',
    description: 'show which client applications are installed and registered',
    examples: [['Show all of them', '$0 client status']],
  })
  static override flags = flags

  override async execute(): Promise<void> {
    const { format } = this.values(flags)
    const clients = await this.app.service('clients')
    const all = byId(await clients.status(), ({ client_type }) => client_type)
    if (format === 'json') return this.printJson(all)
    this.printTable(
      [
        { title: 'CLIENT TYPE', of: client => client.client_type },
        { title: 'INSTALLED', of: client => (client.installed ? 'yes' : '-') },
        { title: 'REGISTERED', of: client => (client.registered ? 'yes' : '-') },
      ],
      all.toSorted((a, b) => Number(b.installed) - Number(a.installed)),
    )
    for (const { problem } of all) if (problem) this.say(`Warning: ${problem}`)
  }
}
