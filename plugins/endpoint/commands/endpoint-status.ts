import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'

const flags = { format: flag.choice('output format', ['text', 'json'], 'text') }

export class EndpointStatus extends BaseCommand {
  static override paths = [['endpoint', 'status']]
  static override usage = BaseCommand.Usage({
    category: 'Endpoints',
    description: 'show the servers behind an endpoint',
  })
  static override synopsis = 'NAME'
  static override flags = flags
  static override completes = 'workloads' as const

  name = Option.String({ required: true })

  override async execute(): Promise<void> {
    const { format } = this.values(flags)
    const { members } = await (await this.app.service('endpoints')).get(this.name)
    this.printList(members, {
      format,
      columns: [
        { title: 'SERVER', of: member => member.name },
        { title: 'STATUS', of: member => member.status },
        { title: 'REASON', of: member => member.reason ?? '' },
      ],
    })
  }
}
