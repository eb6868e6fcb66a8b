import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { failures } from '../../../src/errors.ts'
import { settingsFlags, toSettings } from './settings-flags.ts'

export class EndpointEdit extends BaseCommand {
  static override paths = [['endpoint', 'edit']]
  static override usage = BaseCommand.Usage({
    category: 'Endpoints',
    description: 'change an endpoint',
    details: 'Its clients begin new sessions. `keelson edit` changes what an endpoint has like any workload.',
    examples: [['Clients get one URL for all servers of the group', '$0 endpoint edit team --for-clients']],
  })
  static override synopsis = 'NAME'
  static override flags = settingsFlags
  static override completes = 'workloads' as const

  name = Option.String({ required: true })

  override async execute(): Promise<void> {
    const change = await toSettings(this.values(settingsFlags), this.given)
    if (Object.keys(change).length === 0) {
      throw failures.usage({ text: 'What is to be changed?', hint: 'Give a flag, such as --naming.' })
    }
    await (await this.app.service('endpoints')).edit(this.name, change)
    this.print(`${this.name}: changed`)
  }
}
