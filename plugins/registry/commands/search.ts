import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { searchFlags } from '../flags.ts'
import { toView } from '../formats/to-view.ts'
import { searchColumns } from '../server-table.ts'
import { RegistryCommand } from './registry-command.ts'

export class Search extends RegistryCommand {
  static override paths = [['search']]
  static override usage = BaseCommand.Usage({
    category: 'Registry',
    description: 'search the registry for servers',
    details:
      'Names count more than tags and descriptions. Parts of words and words with typing mistakes match too.',
    examples: [['Find servers for databases', '$0 search database']],
  })
  static override synopsis = 'WORD...'
  static override flags = searchFlags

  words = Option.Rest({ required: 1 })

  override async execute(): Promise<void> {
    const { format } = this.values(searchFlags)
    const query = this.words.join(' ')
    const registry = await this.registry()
    const servers = await registry.search(query, { signal: this.context.signal })
    if (format === 'json') return this.printJson(servers.map(toView))
    if (!servers.length) return this.print(`No server matches "${query}".`)
    this.print(`${servers.length} ${servers.length === 1 ? 'server matches' : 'servers match'} "${query}":`)
    this.printTable(searchColumns(servers), servers)
  }
}
