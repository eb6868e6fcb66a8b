import { isObject } from '../../../src/lib/is-object.ts'
import { parseRaw, topLevelMembers } from '../../../src/lib/raw-json.ts'
import { paramText, type Request } from '../../../src/net/rpc-message.ts'
import { withoutProtocolMeta } from './modern-meta.ts'

/** Members of the requests of older revisions that input requests do not have. */
const OMITTED = new Set(['elicitationId', 'task'])

/** The name of a request in `inputRequests`; it comes back in `inputResponses`. */
export const inputKey = ({ idText }: Request): string => `input-${idText}`

/** A request of an older server as an entry of `inputRequests`. The SDK for Go (1.8) cannot read one without `params`. */
export function toInput(request: Request): string {
  const own = withoutProtocolMeta(request, name => OMITTED.has(name))
  return `{"method":${JSON.stringify(request.method)},"params":${own}}`
}

/** The result that asks a client for input, by key (MCP 2026-07-28, multi round-trip requests). */
export function inputRequired(inputs: ReadonlyMap<string, string>, state: string): string {
  const texts = [...inputs].map(([key, input]) => `${JSON.stringify(key)}:${input}`)
  return `{"resultType":"input_required","inputRequests":{${texts.join(',')}},"requestState":${JSON.stringify(state)}}`
}

/** The input in a retry, by key, raw; undefined when it is malformed. */
export function readInputResponses(request: Request): ReadonlyMap<string, string> | undefined {
  const text = paramText(request, 'inputResponses')
  if (text === undefined) return new Map()
  const members = topLevelMembers(text)
  if (!members) return undefined
  const responses = new Map<string, string>()
  for (const [key, { start, end }] of members.at) responses.set(key, text.slice(start, end))
  return [...responses.values()].every(value => isObject(parseRaw(value))) ? responses : undefined
}
