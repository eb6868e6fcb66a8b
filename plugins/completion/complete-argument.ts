import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { App } from '../../src/app.ts'
import type { CommandClass } from '../../src/cli/base-command.ts'
import { isMissing } from '../../src/lib/atomic-file.ts'
import type { Paths } from '../../src/paths.ts'
import type { Completions } from './complete.ts'

/**
 * What fits as the next argument of a command, read from its synopsis: `bash|zsh` names the words,
 * `PATH` or `FILE` asks for files, `NAME...` takes more of the same.
 */
export async function completeArgument(
  app: App,
  command: CommandClass,
  before: readonly string[],
): Promise<Completions> {
  const places = command.synopsis.split(/\s+/).filter(Boolean)
  const last = places.at(-1)
  const place = places[before.length] ?? (last?.includes('...') ? last : undefined)
  if (place === undefined) return { candidates: [], files: 'none' }
  if (command.completes === 'workloads' && (before.length === 0 || place.includes('...'))) {
    const names = (await workloadNames(app.paths)).filter(name => !before.includes(name))
    return { candidates: names.map(value => ({ value, description: 'workload' })), files: 'none' }
  }
  const bare = place.replace(/[[\].]/g, '')
  if (/^[a-z-]+(\|[a-z-]+)+$/.test(bare)) {
    return { candidates: bare.split('|').map(value => ({ value, description: '' })), files: 'none' }
  }
  return { candidates: [], files: /PATH|FILE|FOLDER/.test(place) ? 'file' : 'none' }
}

/** Names of all workloads, stopped ones included, without asking any runtime. */
async function workloadNames(paths: Paths): Promise<string[]> {
  try {
    const files = await readdir(join(paths.state, 'runconfigs'))
    return files.filter(file => file.endsWith('.json')).map(file => file.slice(0, -'.json'.length))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
