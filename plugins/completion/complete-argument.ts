import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { App } from '../../src/app.ts'
import type { CommandClass } from '../../src/cli/base-command.ts'
import { isMissing } from '../../src/lib/atomic-file.ts'
import type { Paths } from '../../src/paths.ts'
import type { Completions } from './complete-words.ts'

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
  if (command.completes && (before.length === 0 || place.includes('...'))) {
    const [find, description] =
      command.completes === 'workloads' ? [workloadNames, 'workload'] : [skillNames, 'installed skill']
    const names = (await find(app.paths)).filter(name => !before.includes(name))
    return { candidates: names.map(value => ({ value, description })), files: 'none' }
  }
  const bare = place.replace(/[[\].]/g, '')
  if (/^[a-z-]+(\|[a-z-]+)+$/.test(bare)) {
    return { candidates: bare.split('|').map(value => ({ value, description: '' })), files: 'none' }
  }
  return { candidates: [], files: /PATH|FILE|FOLDER/.test(place) ? 'file' : 'none' }
}

/** Names of all workloads, stopped ones included, without asking any runtime. */
const workloadNames = async (paths: Paths): Promise<string[]> =>
  (await jsonFiles(join(paths.state, 'runconfigs'))).map(file => file.slice(0, -'.json'.length))

/** Names of all skills, of the user and of every project. */
async function skillNames(paths: Paths): Promise<string[]> {
  const folder = join(paths.data, 'skills', 'installed')
  const names = new Set<string>()
  for (const file of await jsonFiles(folder)) {
    for (const name of skillsIn(await readFile(join(folder, file), 'utf8'))) names.add(name)
  }
  return [...names].sort()
}

/** A warning would appear in the middle of the line that the user types; the command itself prints it. */
function skillsIn(text: string): string[] {
  try {
    const { skills = {} } = JSON.parse(text) as { skills?: object }
    return Object.keys(skills)
  } catch {
    return []
  }
}

async function jsonFiles(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter(file => file.endsWith('.json'))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
