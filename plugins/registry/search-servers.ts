import MiniSearch from 'minisearch'
import { suggest } from '../../src/lib/suggest.ts'
import { findExtension } from './formats/extension.ts'
import type { ServerJson } from './formats/server-json.ts'
import { shortNameOf } from './formats/server-names.ts'

const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)

/** Typing mistakes are accepted in words of four letters and more. */
const fuzziness = (word: string): number | false => (word.length < 4 ? false : word.length < 6 ? 1 : 2)

function createIndex(servers: readonly ServerJson[]): MiniSearch {
  const index = new MiniSearch({
    idField: 'id',
    fields: ['name', 'title', 'tags', 'description'],
    tokenize: wordsOf,
    searchOptions: {
      boost: { name: 8, title: 4, tags: 2, description: 1 },
      prefix: true,
      fuzzy: fuzziness,
      combineWith: 'AND',
    },
  })
  index.addAll(
    servers.map((server, id) => ({
      id,
      name: shortNameOf(server.name),
      title: server.title ?? '',
      tags: (findExtension(server)?.extension.tags ?? []).join(' '),
      description: server.description,
    })),
  )
  return index
}

/**
 * Servers for a person's words, best first: the name itself, then names, then the rest (title, tags,
 * description). Parts of words count, as do words with a typing mistake.
 */
export function searchServers(servers: readonly ServerJson[], query: string): ServerJson[] {
  const text = query.trim().toLowerCase()
  const scores = new Map<number, number>()
  for (const { id, score, match } of createIndex(servers).search(query)) {
    const inName = Object.values(match).some(fields => fields.includes('name'))
    scores.set(id as number, score + (inName ? 1e6 : 0))
  }
  for (const [id, server] of servers.entries()) {
    const name = server.name.toLowerCase()
    const { tags = [] } = findExtension(server)?.extension ?? {}
    const before = scores.get(id) ?? 0
    if (text && (name === text || shortNameOf(name) === text)) scores.set(id, before + 1e9)
    else if (text && shortNameOf(name).includes(text)) scores.set(id, before + 1e7)
    else if (text && (isOf(name, text) || [server.description, ...tags].some(part => includes(part, text)))) {
      scores.set(id, before + 1)
    }
  }
  return [...scores]
    .sort(([a, x], [b, y]) => y - x || compare(servers[a]?.name ?? '', servers[b]?.name ?? ''))
    .flatMap(([id]) => servers[id] ?? [])
}

const includes = (part: string, text: string): boolean => part.toLowerCase().includes(text)

/**
 * Whether the words ask for all servers of one publisher. Most namespaces begin with `io.github.`, so only
 * their last part is compared, or the whole name where the words hold all of it.
 */
function isOf(name: string, text: string): boolean {
  if (/[./]/.test(text)) return name.includes(text)
  const publisher = name.slice(0, name.lastIndexOf('/')).split('.').at(-1) ?? ''
  return text.length > 2 && publisher.startsWith(text)
}

/** Short names that a mistyped one may have meant, best first. */
export function nearNames(servers: readonly ServerJson[], name: string): string[] {
  const word = shortNameOf(name)
  const index = createIndex(servers)
  const hits = index.search(word, { fields: ['name'], combineWith: 'OR', fuzzy: 0.34 })
  const names = hits.slice(0, 10).map(hit => shortNameOf(servers[hit.id as number]?.name ?? ''))
  // The nearest as a whole comes first, whatever its parts score.
  const nearest = suggest(word, names)
  return [...new Set(nearest === undefined ? names : [nearest, ...names])].slice(0, 3)
}

export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
