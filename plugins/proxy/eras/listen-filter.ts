import { isObject } from '../../../src/lib/is-object.ts'
import { memberText, memberValue, mergeRaw, toRaw } from '../../../src/lib/raw-json.ts'
import { type Notification, param, paramText, type Request } from '../../../src/net/rpc-message.ts'
import { SUBSCRIPTION_ID } from './modern-meta.ts'

/** What a client wants to hear of (MCP 2026-07-28, subscriptions: notification filter). */
export interface ListenFilter {
  readonly toolsListChanged?: boolean
  readonly promptsListChanged?: boolean
  readonly resourcesListChanged?: boolean
  readonly resourceSubscriptions?: readonly string[]
}

const LISTS = {
  'notifications/tools/list_changed': { member: 'toolsListChanged', of: 'tools' },
  'notifications/prompts/list_changed': { member: 'promptsListChanged', of: 'prompts' },
  'notifications/resources/list_changed': { member: 'resourcesListChanged', of: 'resources' },
} as const
const UPDATED = 'notifications/resources/updated'
const isList = (method: string): method is keyof typeof LISTS => Object.hasOwn(LISTS, method)

/** Whether notifications of this method are for subscriptions, and never for the reply to another request. */
export const isForListeners = (method: string): boolean => isList(method) || method === UPDATED

/** The most resources in one filter: each is a request to a server of the era of sessions. */
export const MOST_RESOURCES = 1000

/** The filter of a `subscriptions/listen`; undefined when it is malformed or names too many resources. */
export function readListenFilter(request: Request): ListenFilter | undefined {
  const given = param(request, 'notifications')
  if (!isObject(given)) return undefined
  const uris = given.resourceSubscriptions ?? []
  if (!Array.isArray(uris) || uris.length > MOST_RESOURCES) return undefined
  if (!uris.every(uri => typeof uri === 'string')) return undefined
  const lists = Object.values(LISTS).flatMap(({ member }) => (given[member] === true ? [[member, true]] : []))
  return {
    ...Object.fromEntries(lists),
    ...(uris.length ? { resourceSubscriptions: [...new Set(uris)] } : {}),
  }
}

/** The part of a filter that a server can fulfil, by the result of its `initialize`. */
export function supportedFilter(filter: ListenFilter, initialized: string): ListenFilter {
  const capabilities = memberValue(initialized, 'capabilities')
  const can = (of: string, what: string): boolean => {
    const members = isObject(capabilities) ? capabilities[of] : undefined
    return isObject(members) && members[what] === true
  }
  const lists = Object.values(LISTS).flatMap(({ member, of }) =>
    filter[member] && can(of, 'listChanged') ? [[member, true]] : [],
  )
  const uris = can('resources', 'subscribe') ? filter.resourceSubscriptions : undefined
  return { ...Object.fromEntries(lists), ...(uris ? { resourceSubscriptions: uris } : {}) }
}

/** The first message of a subscription: what it will hear of. `idText` is that of its request. */
export const acknowledgement = (filter: ListenFilter, idText: string): string =>
  subscribed(
    'notifications/subscriptions/acknowledged',
    `{"notifications":${toRaw(JSON.stringify(filter))}}`,
    idText,
  )

/** A notification of a server as a subscription carries it; undefined when it did not ask for it. */
export function toListener(
  message: Notification,
  { filter, idText }: { filter: ListenFilter; idText: string },
): string | undefined {
  const isWanted = isList(message.method)
    ? filter[LISTS[message.method].member] === true
    : message.method === UPDATED && isWatched(param(message, 'uri'), filter)
  return isWanted ? subscribed(message.method, paramText(message) ?? '{}', idText) : undefined
}

/** A server may tell of a part of what was subscribed to (MCP, resources: sub-resources). */
function isWatched(uri: unknown, { resourceSubscriptions = [] }: ListenFilter): boolean {
  if (typeof uri !== 'string') return false
  return resourceSubscriptions.some(own => uri === own || uri.startsWith(own.endsWith('/') ? own : `${own}/`))
}

/** The end of a subscription that the server ends (MCP 2026-07-28, subscriptions: graceful closure). */
export const endOfSubscription = (idText: string): string =>
  `{"jsonrpc":"2.0","id":${idText},"result":{"resultType":"complete","_meta":{"${SUBSCRIPTION_ID}":${idText}}}}`

function subscribed(method: string, paramsText: string, idText: string): string {
  const meta = memberText(paramsText, '_meta')
  const named = mergeRaw(meta?.startsWith('{') ? meta : '{}', `{"${SUBSCRIPTION_ID}":${idText}}`)
  return `{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${mergeRaw(paramsText, `{"_meta":${named}}`)}}`
}
