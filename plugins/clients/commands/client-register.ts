import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { registerAndReport } from './register-and-report.ts'

const flags = {
  group: flag.commaList('group whose workloads the client gets', 'GROUP', {
    completes: 'groups',
    shown: 'default',
  }),
}

export class ClientRegister extends BaseCommand {
  static override paths = [['client', 'register']]
  static override usage = BaseCommand.Usage({
    category: 'Clients',
    description: 'let client applications use the workloads of groups',
    details:
      'The running workloads of the groups are written into the configuration of the client at once, and updated ' +
      'whenever a workload starts or stops. `client status` lists the clients that keelson knows.',
    examples: [
      ['Register Cursor', '$0 client register cursor'],
      ['Register Claude Code for one group', '$0 client register claude-code --group research'],
    ],
  })
  static override synopsis = 'CLIENT...'
  static override completes = 'clients' as const
  static override flags = flags

  names = Option.Rest({ required: 1 })

  override async execute(): Promise<number> {
    const { group } = this.values(flags)
    return registerAndReport(this.app, this.names, group, line => this.say(line))
  }
}
