import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { describeServer } from '../describe-server.ts'
import { listFlags } from '../flags.ts'
import { toView } from '../formats/to-view.ts'
import { RegistryCommand } from './registry-command.ts'

export class RegistryInfo extends RegistryCommand {
  static override paths = [['registry', 'info']]
  static override usage = BaseCommand.Usage({
    category: 'Registry',
    description: 'show what the registry says about a server',
    examples: [['Show what the server github needs', '$0 registry info github']],
  })
  static override synopsis = 'SERVER'
  static override completes = 'servers' as const
  static override flags = listFlags

  server = Option.String()

  override async execute(): Promise<void> {
    const { format, refresh } = this.values(listFlags)
    const registry = await this.registry()
    const server = await registry.get(this.server, { refresh, signal: this.context.signal })
    if (format === 'json') return this.printJson(toView(server))
    for (const line of describeServer(server, this.server)) this.print(line)
  }
}
