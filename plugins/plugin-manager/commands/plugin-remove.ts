import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'

export class PluginRemove extends BaseCommand {
  static override paths = [['plugin', 'remove']]
  static override usage = BaseCommand.Usage({
    category: 'Plugins',
    description: 'remove a plugin that you have added',
    examples: [['Remove a plugin', '$0 plugin remove @example/keelson-nomad']],
  })
  static override synopsis = 'NAME'

  plugin = Option.String({ required: true })

  override async execute(): Promise<void> {
    const plugins = await this.app.service('plugins')
    await plugins.remove(this.plugin)
  }
}
