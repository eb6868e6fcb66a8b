import MiniSearch from 'minisearch'
import { isObject } from '../../../src/lib/is-object.ts'
import type { ListedTools, Tool } from './listed-tools.ts'

/** How much of the texts of one tool is searched; a server could send any amount. */
const [MOST_TEXT, MOST_ARGUMENTS] = [2000, 100]
/** Tools that are added to an index before other work of the process goes on. */
const CHUNK = 100
/** Words of questions that say nothing about a tool. */
const NO_KEYWORDS = new Set(
  'a all an and any are can could do for from get how i in is it me my need of on or please some that the this to tool tools use want which with'.split(
    ' ',
  ),
)

const wordsOf = (text: string): string[] =>
  text
    .slice(0, MOST_TEXT)
    .replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)

/** Singular and plural of most English words are the same word here. */
const stem = (word: string): string =>
  word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word

/** Finds tools by words: BM25 over the name, title, arguments, description and server, each with its weight. */
interface ToolIndex {
  rank(query: string): string[]
}

async function createIndex({ tools }: ListedTools): Promise<ToolIndex> {
  const index = new MiniSearch<{ id: string }>({
    fields: ['name', 'title', 'server', 'parameters', 'description'],
    tokenize: wordsOf,
    processTerm: stem,
  })
  await index.addAllAsync([...tools.values()].map(toDocument), { chunkSize: CHUNK })
  const options = {
    boost: { name: 4, title: 3, server: 2, parameters: 1, description: 1.5 },
    prefix: (word: string) => word.length > 2,
    fuzzy: (word: string) => (word.length > 4 ? 0.2 : false),
    weights: { prefix: 0.4, fuzzy: 0.2 },
  }
  return {
    rank(query) {
      const words = wordsOf(query)
      const keywords = words.filter(word => !NO_KEYWORDS.has(word))
      const asked = (keywords.length > 0 ? keywords : words).slice(0, 50).join(' ')
      return index.search(asked, options).map(({ id }) => id as string)
    },
  }
}

const toDocument = ({ name, title, server = '', description, inputSchema }: Tool) => {
  const properties = isObject(inputSchema) ? inputSchema.properties : undefined
  const parameters = isObject(properties) ? Object.keys(properties).slice(0, MOST_ARGUMENTS).join(' ') : ''
  return { id: name, name, title, server, description, parameters }
}

/** Ranks the names of the tools of a list by words, best first. */
export type RankTools = (listed: ListedTools, query: string) => Promise<string[]>

/** The index of a list is made once, when it is first searched. */
export function createRankTools(): RankTools {
  const indexes = new WeakMap<ListedTools, Promise<ToolIndex>>()
  return async (listed, query) => {
    const index = indexes.get(listed) ?? createIndex(listed)
    indexes.set(listed, index)
    return (await index).rank(query)
  }
}
