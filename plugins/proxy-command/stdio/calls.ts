import { idKey, type Request } from '../../../src/net/rpc-message.ts'

/** A request of the client that waits for its response. */
export interface Call {
  readonly idText: string
  readonly method: string
  /** Whether it is written in a revision without sessions (2026-07-28). */
  readonly modern: boolean
  /** Ends the request to the workload. */
  readonly abort: AbortController
  /** Resolves when the workload has accepted the request. */
  readonly accepted: PromiseWithResolvers<void>
}

/** The requests of the client that wait for a response. */
export interface Calls {
  /** Undefined: a request with this id waits already, or too many do. */
  open(request: Request, options: { modern: boolean }): Call | 'repeated' | 'busy'
  find(idText: string): Call | undefined
  /**
   * Ends a call. Undefined when no request with this id waits, e.g. because it was cancelled, or when another
   * call than `only` does.
   */
  settle(idText: string, only?: Call): Call | undefined
  /** Resolves when no call waits any more that ends by itself. */
  idle(): Promise<void>
}

const MOST = 1000
/** Its response comes when the subscription ends. */
const ENDLESS = 'subscriptions/listen'

export function createCalls(): Calls {
  const open = new Map<string, Call>()
  let onIdle: (() => void) | undefined
  const isIdle = () => [...open.values()].every(({ method }) => method === ENDLESS)
  return {
    open({ idText, method }, { modern }) {
      const key = idKey(idText)
      if (open.has(key)) return 'repeated'
      if (open.size >= MOST) return 'busy'
      const abort = new AbortController()
      const call: Call = { idText, method, modern, abort, accepted: Promise.withResolvers() }
      open.set(key, call)
      return call
    },
    find: idText => open.get(idKey(idText)),
    settle(idText, only) {
      const call = open.get(idKey(idText))
      if (!call || (only && call !== only)) return undefined
      open.delete(idKey(idText))
      call.accepted.resolve()
      if (onIdle && isIdle()) onIdle()
      return call
    },
    idle: () =>
      isIdle()
        ? Promise.resolve()
        : new Promise(resolve => {
            onIdle = resolve
          }),
  }
}
