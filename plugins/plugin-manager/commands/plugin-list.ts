import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'

const flags = { format: flag.choice('output format', ['text', 'json'], 'text') }

export class PluginList extends BaseCommand {
  static override paths = [['plugin', 'list']]
  static override usage = BaseCommand.Usage({
    category: 'Plugins',
    description: 'list the plugins that you have added',
    details:
      'A plugin is broken if its files have changed since you added it, or if they were made for another API.',
  })
  static override flags = flags

  override async execute(): Promise<void> {
    const plugins = await (await this.app.service('plugins')).list()
    if (this.values(flags).format === 'json') return this.printJson(plugins)
    if (plugins.length === 0) return this.print('You have added no plugins.')
    this.printTable(
      [
        { title: 'NAME', of: plugin => plugin.name },
        { title: 'VERSION', of: plugin => plugin.version },
        { title: 'STATE', of: plugin => plugin.state },
        { title: 'COMMANDS', of: plugin => Object.keys(plugin.manifest.verbs ?? {}).join(', ') || '-' },
        { title: 'PROVIDES', of: plugin => plugin.manifest.provides?.join(', ') || '-' },
        { title: 'SOURCE', of: plugin => plugin.source },
      ],
      plugins,
    )
    for (const plugin of plugins) if (plugin.problem) this.say(plugin.problem)
  }
}
