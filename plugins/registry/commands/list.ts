import { BaseCommand } from '../../../src/cli/base-command.ts'
import { listFlags } from '../flags.ts'
import { toView } from '../formats/to-view.ts'
import { serverColumns } from '../server-table.ts'
import { RegistryCommand } from './registry-command.ts'

export class RegistryList extends RegistryCommand {
  static override paths = [
    ['registry', 'list'],
    ['registry', 'ls'],
  ]
  static override usage = BaseCommand.Usage({
    category: 'Registry',
    description: 'list the servers of the registry',
    examples: [['List them as JSON', '$0 registry list --format json']],
  })
  static override flags = listFlags

  override async execute(): Promise<void> {
    const { format, refresh } = this.values(listFlags)
    const registry = await this.registry()
    const servers = await registry.servers({ refresh, signal: this.context.signal })
    if (format === 'json') return this.printJson(servers.map(toView))
    this.printTable(serverColumns(servers), servers)
  }
}
