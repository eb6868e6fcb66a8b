import { isDeepStrictEqual } from 'node:util'
import { toRaw } from '../../../../src/lib/raw-json.ts'
import { type Notification, param, type Request, readMessage } from '../../../../src/net/rpc-message.ts'
import { isForListeners, type ListenFilter, supportedFilter } from '../../eras/listen-filter.ts'
import { withoutProtocolMeta } from '../../eras/modern-meta.ts'
import { META_2026 } from '../../revisions/index.ts'
import type { BridgeLimits } from '../bridge-limits.ts'
import type { Call } from '../calls/call.ts'
import type { Calls } from '../calls/pending-calls.ts'
import type { Session, Sessions } from '../clients/client-sessions.ts'
import type { SessionDelivery } from '../clients/session-delivery.ts'
import type { Subscriptions } from '../clients/subscriptions.ts'

/**
 * The one `subscriptions/listen` that the proxy holds at a server of 2026-07-28 for all clients with a session: they
 * hear of changed lists, and of the resources that they have subscribed to.
 */
export interface HeldListen {
  /** Opens it for the clients that there are now. Resolves with the resources that the server tells of. */
  update(): Promise<readonly string[]>
  /** Opens it at another process of the server. */
  reopen(): void
  /** Takes the result of `initialize` that a client got: what the server offers. */
  offered(initialized: string): void
}

/** How long a server may take to acknowledge, in milliseconds. */
const ACKNOWLEDGE_MS = 10_000
/** How long to wait after the server has ended it, in milliseconds. */
const REOPEN_MS = 5000

const LISTS: ListenFilter = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }
const NONE: readonly string[] = []

/** It is long because all of it reads and changes the one request. */
export function createHeldListen(options: {
  limits: Pick<BridgeLimits, 'maxListenBytes'>
  calls: Calls
  sessions: () => Sessions
  subscriptions: Subscriptions
  delivery: SessionDelivery
}): HeldListen {
  const { limits, calls, subscriptions, delivery } = options
  let current: { call: Call; filter: ListenFilter; uris: readonly string[] } | undefined
  let initialized = '{}'
  let turn: Promise<unknown> = Promise.resolve()
  let next: Promise<readonly string[]> | undefined
  let timer: NodeJS.Timeout | undefined

  const clients = (): Session[] => [...options.sessions().all()].filter(({ metadata }) => metadata)

  function filterNow(): ListenFilter {
    if (clients().length === 0) return {}
    const uris = atMost(subscriptions.uris(), limits.maxListenBytes)
    return supportedFilter({ ...LISTS, ...(uris.length ? { resourceSubscriptions: uris } : {}) }, initialized)
  }

  function cancel(held: typeof current): void {
    if (held) calls.abandon(held.call, 'cancelled', 'what clients want to hear of has changed')
  }

  /** The new one is acknowledged before the old one ends, so that nothing is missed. */
  async function open(): Promise<readonly string[]> {
    next = undefined
    const filter = filterNow()
    const before = current
    if (before && isDeepStrictEqual(before.filter, filter)) return before.uris
    const opened = Object.keys(filter).length > 0 ? await start(filter) : undefined
    current = opened && calls.find(opened.call.id) === opened.call ? opened : undefined
    cancel(before)
    return current?.uris ?? NONE
  }

  async function start(filter: ListenFilter): Promise<typeof current> {
    const acknowledged = Promise.withResolvers<Notification | undefined>()
    const params = toRaw(JSON.stringify({ ...META_2026, notifications: filter }))
    const request = readMessage(`{"jsonrpc":"2.0","id":0,"method":"subscriptions/listen","params":${params}}`)
    const call = calls.start(request as Request, {
      timeoutMs: Number.POSITIVE_INFINITY,
      reply: {
        attended: () => true,
        keepAlive: () => {},
        related(text) {
          const message = readMessage(text)
          if (message?.kind !== 'notification') return true
          if (isForListeners(message.method)) tell(message)
          else acknowledged.resolve(message)
          return true
        },
        respond: () => ended(REOPEN_MS),
        fail: () => ended(undefined),
      },
    })
    if (!call) return undefined
    const late = setTimeout(() => acknowledged.resolve(undefined), ACKNOWLEDGE_MS).unref()
    const message = await acknowledged.promise
    clearTimeout(late)
    // The proxy tells sessions of its own changes in another way.
    call.acknowledged = undefined
    const uris = message ? param(message, 'notifications', 'resourceSubscriptions') : undefined
    return { call, filter, uris: Array.isArray(uris) ? uris : NONE }

    function ended(reopenMs: number | undefined): void {
      acknowledged.resolve(undefined)
      if (current?.call !== call) return
      current = undefined
      if (reopenMs !== undefined) timer = setTimeout(() => void held.update(), reopenMs).unref()
    }
  }

  function tell(message: Notification): void {
    const params = withoutProtocolMeta(message)
    const text = `{"jsonrpc":"2.0","method":${JSON.stringify(message.method)},"params":${params}}`
    const uri = param(message, 'uri')
    const hearers = typeof uri === 'string' ? subscriptions.watchers(uri) : clients()
    for (const session of hearers) delivery.sendStandalone(session, text)
  }

  const held: HeldListen = {
    update() {
      clearTimeout(timer)
      next ??= turn.then(open)
      turn = next
      return next
    },
    reopen() {
      cancel(current)
      current = undefined
      if (clients().length > 0) void held.update()
    },
    offered(result) {
      initialized = result
    },
  }
  return held
}

/** The first texts, until they have this many characters. */
function atMost(texts: readonly string[], most: number): string[] {
  let length = 0
  return texts.filter(text => {
    length += text.length
    return length <= most
  })
}
