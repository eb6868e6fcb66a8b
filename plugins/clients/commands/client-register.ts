import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { registerAndReport } from './register-and-report.ts'

const flags = {
  group: flag.commaList('groups whose workloads it gets; repeatable', 'GROUP', { shown: 'default' }),
}

export class ClientRegister extends BaseCommand {
  static override paths = [['client', 'register']]
  static override usage = BaseCommand.Usage({
    category: 'Clients',
    description: 'let client applications use the workloads of groups',
    details: `
      What runs in the groups is written into the client's own configuration at once, and from then on
      whenever a workload starts or stops. \`client status\` lists the clients there are.
    `,
    examples: [
      ['Register Cursor', '$0 client register cursor'],
      ['Register Claude Code for one group', '$0 client register claude-code --group research'],
    ],
  })
  static override synopsis = 'CLIENT...'
  static override flags = flags

  names = Option.Rest({ required: 1 })

  override async execute(): Promise<number> {
    const { group } = this.values(flags)
    return registerAndReport(this.app, this.names, group, line => this.say(line))
  }
}
