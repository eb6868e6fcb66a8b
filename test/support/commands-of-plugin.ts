import type { CommandClass } from '../../src/cli/base-command.ts'
import type { PluginEntry } from '../../src/plugin.ts'

/** All commands of a plugin, those that its entry loads without the rest of it among them. */
export async function commandsOfPlugin(entry: PluginEntry): Promise<CommandClass[]> {
  const alone = await Promise.all(Object.values(entry.commands ?? {}).map(load => load()))
  return [...new Set([...((await entry.load()).commands ?? []), ...alone.flat()])]
}
