import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { reportProblems } from './report-problems.ts'

const flags = {
  group: flag.commaList('group whose workloads are removed', 'GROUP', { completes: 'groups', shown: 'all' }),
}

export class ClientRemove extends BaseCommand {
  static override paths = [['client', 'remove']]
  static override usage = BaseCommand.Usage({
    category: 'Clients',
    description: 'remove workloads from the configuration of client applications',
    details: 'Only entries that keelson wrote are removed.',
    examples: [['Forget Cursor', '$0 client remove cursor']],
  })
  static override synopsis = 'CLIENT...'
  static override completes = 'clients' as const
  static override flags = flags

  names = Option.Rest({ required: 1 })

  override async execute(): Promise<number> {
    const { group } = this.values(flags)
    const clients = await this.app.service('clients')
    const problems = await clients.remove(this.names, group)
    return reportProblems(problems, this.names, line => this.say(line))
  }
}
