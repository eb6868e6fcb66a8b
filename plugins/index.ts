import type { PluginEntry } from '../src/plugin.ts'

/**
 * The built-in plugins. What stands here is known without loading any code: a verb loads only its
 * own plugin, a service or contribution only the plugins that say they have it.
 */
export const builtins: readonly PluginEntry[] = [
  {
    name: 'version',
    verbs: ['version'],
    load: async () => (await import('./version/index.ts')).default,
  },
]
