import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'

const flags = { format: flag.choice('output format', ['text', 'json'], 'text') }

export class EndpointList extends BaseCommand {
  static override paths = [['endpoint', 'list']]
  static override usage = BaseCommand.Usage({ category: 'Endpoints', description: 'list endpoints' })
  static override flags = flags

  override async execute(): Promise<void> {
    const { format } = this.values(flags)
    const endpoints = await (await this.app.service('endpoints')).list()
    const items = endpoints.map(({ workload, settings, members }) => ({
      name: workload.name,
      status: workload.status,
      url: workload.url,
      ...settings,
      members,
    }))
    this.printList(items, {
      format,
      columns: [
        { title: 'NAME', of: item => item.name },
        { title: 'STATUS', of: item => item.status },
        { title: 'URL', of: item => item.url },
        { title: 'SERVERS', of: item => item.members.map(({ name }) => name).join(', ') },
      ],
    })
  }
}
