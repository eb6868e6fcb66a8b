import { redact } from '../../src/lib/redact.ts'
import type { JsonRpcMessage } from '../../src/net/json-rpc.ts'
import { short } from './subjects.ts'

/** What a request is for. */
export interface Target {
  readonly endpoint: string
  readonly method: string
  readonly name: string | undefined
  readonly type: 'tool' | 'resource' | 'prompt' | 'endpoint' | 'sse_endpoint'
}

const KINDS = [
  ['tools/', 'tool'],
  ['resources/', 'resource'],
  ['prompts/', 'prompt'],
] as const

const MOST_NAME = 512

/** The path without the query, which may hold secrets. */
export const pathOf = (url: string): string => short(redact(url.split('?', 1)[0] ?? '/'), MOST_NAME)

export function toTarget(
  url: string,
  httpMethod: string,
  message: JsonRpcMessage | undefined,
  isStream: boolean,
): Target {
  const endpoint = pathOf(url)
  if (!message || !('method' in message)) {
    return {
      endpoint,
      method: short(httpMethod),
      name: undefined,
      type: isStream ? 'sse_endpoint' : 'endpoint',
    }
  }
  const { method, params } = message
  const type = KINDS.find(([prefix]) => method.startsWith(prefix))?.[1] ?? 'endpoint'
  const named = params?.[type === 'resource' ? 'uri' : 'name']
  return {
    endpoint,
    method: short(method),
    name: typeof named === 'string' ? short(redact(named), MOST_NAME) : undefined,
    type,
  }
}
