import type { Plugin } from '../../src/plugin.ts'
import type { InstallWithNpm } from '../runtime-process/index.ts'
import { PluginAdd } from './commands/plugin-add.ts'
import { PluginList } from './commands/plugin-list.ts'
import { PluginRemove } from './commands/plugin-remove.ts'
import type { Plugins } from './service.ts'

/** Adds, lists and removes the plugins of third parties. */
const pluginManager: Plugin = {
  name: 'plugin-manager',
  needs: ['runtime-process'],
  uses: ['npmInstall'],
  commands: [PluginAdd, PluginList, PluginRemove],
  services: {
    plugins: async app => {
      const builtins = app.entries.filter(entry => !entry.added)
      const npmInstall: InstallWithNpm = async (...install) => (await app.service('npmInstall'))(...install)
      return (await import('./service.ts')).createPlugins({ paths: app.paths, builtins, npmInstall })
    },
  },
}
export default pluginManager

declare module '../../src/plugin.ts' {
  interface Services {
    plugins: Plugins
  }
}
