import { createHash } from 'node:crypto'
import { arrayElements, omitRaw, parseRaw, topLevelMembers } from '../../../src/lib/raw-json.ts'
import { paramsObject, type Request } from '../../../src/net/rpc-message.ts'

/** What differs between the rounds of one call. */
const OF_A_ROUND = new Set(['_meta', 'inputResponses', 'requestState'])

/**
 * What a request asks for: its method and parameters, however their members are ordered and spaced. The retry of a
 * call must ask for what the call did, since that is what policies have judged.
 */
export function askedFor(request: Request): string {
  const params = omitRaw(paramsObject(request), name => OF_A_ROUND.has(name))
  return `${request.method} ${canonical(params)}`
}

/** The digest of `askedFor`, which a parked call keeps in place of the text. The text may be long. */
export const digestOf = (asked: string): string =>
  createHash('sha256').update(asked, 'latin1').digest('base64')

/** What is nested deeper has to come in the same spelling: each level reads the text once more. */
const MAX_DEPTH = 16

/** One spelling of all spellings of a raw value. Numbers stay as they are written: parsing would round them. */
function canonical(text: string, depth = 0): string {
  const first = text.trimStart()[0]
  if (depth > MAX_DEPTH) return text
  if (first === '{') {
    const members = [...(topLevelMembers(text)?.at ?? [])].sort(([a], [b]) => (a < b ? -1 : 1))
    const texts = members.map(
      ([name, { start, end }]) => `${JSON.stringify(name)}:${canonical(text.slice(start, end), depth + 1)}`,
    )
    return `{${texts.join(',')}}`
  }
  if (first === '[')
    return `[${(arrayElements(text) ?? []).map(element => canonical(element, depth + 1)).join(',')}]`
  return first === '"' ? JSON.stringify(parseRaw(text)) : text.trim()
}
