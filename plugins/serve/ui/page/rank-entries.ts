import type { Entry } from '../page-types.d.ts'

/**
 * Puts servers first that are called what is wanted, then those described so. The namespaces of a
 * registry say little: `io.github…` would make every server fit “github”.
 */
export function rankEntries(entries: readonly Entry[], wanted: string): Entry[] {
  const word = wanted.toLowerCase()
  const rank = ({ name, title = '', description }: Entry): number => {
    const names = [title, name.slice(name.indexOf('/') + 1)].map(text => text.toLowerCase())
    if (names.some(text => text.startsWith(word))) return 0
    if (names.some(text => text.includes(word))) return 1
    return description.toLowerCase().includes(word) ? 2 : 3
  }
  const ranked = entries.map(entry => ({ entry, place: rank(entry) })).sort((a, b) => a.place - b.place)
  const close = ranked.filter(({ place }) => place < 3)
  return (close.length ? close : ranked).map(({ entry }) => entry)
}
