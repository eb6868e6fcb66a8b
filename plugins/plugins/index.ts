import type { Plugin } from '../../src/plugin.ts'
import { PluginAdd } from './commands/plugin-add.ts'
import { PluginList } from './commands/plugin-list.ts'
import { PluginRemove } from './commands/plugin-remove.ts'
import type { Plugins } from './service.ts'

/** Adds, lists and removes the plugins of third parties. */
const plugins: Plugin = {
  name: 'plugins',
  commands: [PluginAdd, PluginList, PluginRemove],
  services: {
    plugins: async ({ paths, env, entries }) => {
      const builtins = entries.filter(entry => !entry.added)
      return (await import('./service.ts')).createPlugins({ paths, env, builtins })
    },
  },
}
export default plugins

declare module '../../src/plugin.ts' {
  interface Services {
    plugins: Plugins
  }
}
