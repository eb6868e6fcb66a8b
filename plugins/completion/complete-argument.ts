import type { App } from '../../src/app.ts'
import type { CommandClass } from '../../src/cli/base-command.ts'
import type { Completions } from './complete-words.ts'
import { findNames } from './find-names.ts'

/**
 * What fits as the next argument of a command, read from its synopsis: `bash|zsh` names the words,
 * `PATH` or `FILE` asks for files, `NAME...` takes more of the same.
 */
export async function completeArgument(
  app: App,
  command: CommandClass,
  { before, server }: { before: readonly string[]; server: string | undefined },
): Promise<Completions> {
  const places = command.synopsis.split(/\s+/).filter(Boolean)
  const last = places.at(-1)
  const place = places[before.length] ?? (last?.includes('...') ? last : undefined)
  if (place === undefined) return { candidates: [], files: 'none' }
  if (command.completes && (before.length === 0 || place.includes('...'))) {
    const names = await findNames(app, command.completes, server)
    return { candidates: names.filter(({ value }) => !before.includes(value)), files: 'none' }
  }
  const bare = place.replace(/[[\].]/g, '')
  if (/^[a-z-]+(\|[a-z-]+)+$/.test(bare)) {
    return { candidates: bare.split('|').map(value => ({ value, description: '' })), files: 'none' }
  }
  return { candidates: [], files: /PATH|FILE|FOLDER/.test(place) ? 'file' : 'none' }
}
