import { isObject } from '../../../src/lib/is-object.ts'
import { parseRaw, topLevelMembers } from '../../../src/lib/raw-json.ts'
import { paramText, type Request } from '../../../src/net/rpc-message.ts'
import { withoutProtocolMeta } from './modern-meta.ts'

/** Members of the requests of older revisions that input requests do not have. */
const OMITTED = new Set(['elicitationId', 'task'])

/** The name of a request in `inputRequests`; it comes back in `inputResponses`. */
export const inputKey = ({ idText }: Request): string => `input-${idText}`

/** The result that asks a client for input (MCP 2026-07-28, multi round-trip requests). */
export function inputRequired(requests: Iterable<Request>, state: string): string {
  const inputs = [...requests].map(request => {
    const params = paramText(request)
    const own = params && withoutProtocolMeta(params, name => OMITTED.has(name))
    const input = `{"method":${JSON.stringify(request.method)}${own ? `,"params":${own}` : ''}}`
    return `${JSON.stringify(inputKey(request))}:${input}`
  })
  return `{"resultType":"input_required","inputRequests":{${inputs.join(',')}},"requestState":${JSON.stringify(state)}}`
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
