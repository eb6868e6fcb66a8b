import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from './errors.ts'
import type { Log } from './log.ts'
import type { Paths } from './paths.ts'
import type { PluginEntry } from './plugin.ts'

/** The file that lists the plugins a user has added, with version and integrity. */
export const pluginLockPath = (paths: Paths): string => join(paths.data, 'plugins', 'plugins.lock.json')

/**
 * Entries of the plugins that the user has added; their code is loaded, and checked, on first use.
 * A list that cannot be read costs a warning and the added plugins, never the program.
 */
export async function thirdPartyEntries(
  paths: Paths,
  log: Log,
  takenVerbs: readonly string[],
): Promise<PluginEntry[]> {
  const path = pluginLockPath(paths)
  try {
    if (!existsSync(path)) return [] // synchronously: most starts end here, and fs/promises takes time to load
    const text = readFileSync(path, 'utf8')
    const { readPluginLock, toEntry } = await import('./third-party.ts')
    return readPluginLock(text, path).map(record => toEntry(record, paths, takenVerbs))
  } catch (error) {
    log.warn(`No added plugin is loaded: ${messageOf(error)}`)
    return []
  }
}
