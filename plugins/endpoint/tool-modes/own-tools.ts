import { toRaw } from '../../../src/lib/raw-json.ts'
import { suggest } from '../../../src/lib/suggest.ts'
import { lineOf, signatureOf } from './describe.ts'
import type { ListedTools } from './listed-tools.ts'
import type { RankTools } from './rank-tools.ts'
import { DESCRIBE_TOOL, FIND_TOOLS, MOST_RESULTS, USUAL_RESULTS } from './tool-definitions.ts'

/** The result of a call of a tool of the endpoint itself. */
export interface OwnResult {
  /** Raw text. */
  readonly text: string
  readonly isError?: boolean
}

type Arguments = Readonly<Record<string, unknown>>

const problem = (text: string): OwnResult => ({ text: toRaw(text), isError: true })

async function findTools(
  listed: ListedTools,
  { query, limit }: Arguments,
  rank: RankTools,
): Promise<OwnResult> {
  if (typeof query !== 'string' || !query.trim()) return problem('The argument "query" needs keywords')
  const most = Number.isInteger(limit) ? Math.min(Math.max(Number(limit), 1), MOST_RESULTS) : USUAL_RESULTS
  const names = await rank(listed, query)
  const found = names.slice(0, most).flatMap(name => listed.tools.get(name) ?? [])
  const missing =
    listed.missing.length > 0 ? [`Not searched, as they do not respond: ${listed.missing.join(', ')}`] : []
  const head =
    found.length === 0
      ? `No tool matches. Try other keywords, or the name of a server.`
      : `${found.length} of ${names.length} tools that match, best first.`
  const lines = found.map(tool => `${signatureOf(tool)}\n  ${lineOf(tool)}`)
  return { text: toRaw([head, ...missing, ...lines].join('\n')) }
}

async function describeTool(listed: ListedTools, { name }: Arguments, rank: RankTools): Promise<OwnResult> {
  if (typeof name !== 'string') return problem('The argument "name" needs the name of a tool')
  const tool = listed.tools.get(name)
  return tool ? { text: tool.item } : unknownTool(listed, name, rank)
}

/** Says near names, of those that the caller may use. */
export async function unknownTool(listed: ListedTools, name: string, rank: RankTools): Promise<OwnResult> {
  const shown = name.slice(0, 100)
  const ranked = (await rank(listed, shown)).slice(0, 50) // to compare with all of thousands takes long
  const nearest = suggest(shown, ranked)
  const near = [...new Set(nearest === undefined ? ranked : [nearest, ...ranked])].slice(0, 3)
  const hint = near.length > 0 ? ` Did you mean ${near.join(', ')}?` : ''
  return problem(`There is no tool ${JSON.stringify(shown)}.${hint}`)
}

export type OwnTool = (listed: ListedTools, args: Arguments, rank: RankTools) => Promise<OwnResult>

/** By name, what responds to calls. */
export const OWN_TOOLS: ReadonlyMap<string, OwnTool> = new Map([
  [FIND_TOOLS, findTools],
  [DESCRIBE_TOOL, describeTool],
])

/** The result of `tools/call` (raw text). `isModern`: of MCP 2026-07-28, where results have a type. */
export const callResult = ({ text, isError = false }: OwnResult, isModern: boolean): string =>
  `{${isModern ? '"resultType":"complete",' : ''}"content":[{"type":"text","text":${JSON.stringify(text)}}]` +
  `${isError ? ',"isError":true' : ''}}`
