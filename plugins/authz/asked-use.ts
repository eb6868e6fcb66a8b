import { isObject } from '../../src/lib/is-object.ts'
import type { JsonRpcNotification, JsonRpcRequest } from '../../src/net/json-rpc.ts'
import type { Feature, Use } from './decider.ts'

/**
 * Methods that use nothing, or whose results are filtered. Tasks are those of calls that were judged; the proxy keeps
 * those of different callers apart.
 */
const FREE = new Set([
  'initialize',
  'ping',
  'server/discover',
  'logging/setLevel',
  'roots/list',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'tasks/get',
  'tasks/result',
  'tasks/list',
  'tasks/cancel',
  'tasks/update',
])

const FREE_NOTIFICATIONS = new Set([
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/message',
  'notifications/roots/list_changed',
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
  'notifications/elicitation/complete',
  'notifications/tasks/status',
])

interface NamedBy {
  readonly feature: Feature
  readonly member: 'name' | 'uri'
}

const RESOURCE: NamedBy = { feature: 'resource', member: 'uri' }

/** Which parameter names what is used. */
const PLACES: ReadonlyMap<string, NamedBy> = new Map<string, NamedBy>([
  ['tools/call', { feature: 'tool', member: 'name' }],
  ['prompts/get', { feature: 'prompt', member: 'name' }],
  ['resources/read', RESOURCE],
  ['resources/subscribe', RESOURCE],
  ['resources/unsubscribe', RESOURCE],
])

/**
 * What a message wants to use: nothing that is judged (`free`), something that nobody may (`unknown`), or things that
 * policies judge.
 */
export function askedUse(message: JsonRpcRequest | JsonRpcNotification): 'free' | 'unknown' | readonly Use[] {
  const { method } = message
  if (!('id' in message)) return FREE_NOTIFICATIONS.has(method) ? 'free' : 'unknown'
  if (FREE.has(method)) return 'free'
  const params = isObject(message.params) ? message.params : {}
  if (method === 'completion/complete') return completionUse(params)
  if (method === 'subscriptions/listen') return listenUses(params)
  const place = PLACES.get(method)
  if (!place) return 'unknown'
  const { feature, member } = place
  const id = params[member]
  if (typeof id !== 'string') return 'unknown'
  const { arguments: args } = params
  if (args !== undefined && args !== null && !isObject(args)) return 'unknown'
  return [{ feature, id, ...(args && feature !== 'resource' ? { arguments: args } : {}) }]
}

/** Completions tell what a prompt or a template of resources can be used with (MCP, completion). */
function completionUse({ ref }: Readonly<Record<string, unknown>>): 'unknown' | readonly Use[] {
  if (!isObject(ref)) return 'unknown'
  if (ref.type === 'ref/prompt' && typeof ref.name === 'string') return [{ feature: 'prompt', id: ref.name }]
  if (ref.type === 'ref/resource' && typeof ref.uri === 'string')
    return [{ feature: 'resource', id: ref.uri }]
  return 'unknown'
}

/** Its stream tells of changes of the resources that it names (MCP 2026-07-28, subscriptions). */
function listenUses({
  notifications,
}: Readonly<Record<string, unknown>>): 'free' | 'unknown' | readonly Use[] {
  const uris = isObject(notifications) ? notifications.resourceSubscriptions : undefined
  if (uris === undefined) return 'free'
  if (!Array.isArray(uris) || !uris.every(uri => typeof uri === 'string')) return 'unknown'
  return uris.length ? uris.map(id => ({ feature: 'resource', id })) : 'free'
}
