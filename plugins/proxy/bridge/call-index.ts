import { idKey } from '../../../src/net/rpc-message.ts'
import type { Call, Party } from './call.ts'
import type { Session } from './client-sessions.ts'
import type { Calls } from './pending-calls.ts'

/** Methods that cause no messages of the server: look-ups and settings. */
const LOOKUPS =
  /^(ping|initialize|logging\/setLevel|completion\/complete|resources\/(un)?subscribe|server\/discover|subscriptions\/listen|.*\/list)$/

const NO_CALLS: ReadonlySet<Call> = new Set()

/** The calls in flight, by id, by client and by the client's own request ids. */
export interface CallIndex extends Pick<Calls, 'atWork' | 'ofSession'> {
  readonly byId: ReadonlyMap<number, Call>
  add(call: Call): void
  remove(call: Call): void
}

export function createCallIndex(): CallIndex {
  const byId = new Map<number, Call>()
  /** For each client, the calls that may cause messages of the server. */
  const busy = new Map<Session | Call, Set<Call>>()

  return {
    byId,
    add(call: Call): void {
      byId.set(call.id, call)
      if (!LOOKUPS.test(call.method)) {
        const party = call.session ?? call
        busy.set(party, (busy.get(party) ?? new Set()).add(call))
      }
      if (!call.session) return
      const key = idKey(call.idText)
      call.session.calls.set(key, (call.session.calls.get(key) ?? new Set()).add(call))
    },
    remove(call: Call): void {
      byId.delete(call.id)
      call.onEnd?.()
      const party = call.session ?? call
      const working = busy.get(party)
      if (working?.delete(call) && working.size === 0) busy.delete(party)
      if (!call.session) return
      const key = idKey(call.idText)
      const same = call.session.calls.get(key)
      if (same?.delete(call) && same.size === 0) call.session.calls.delete(key)
    },
    atWork(): Party | 'none' | 'several' {
      if (busy.size === 0) return 'none'
      if (busy.size > 1) return 'several'
      for (const [party] of busy) return 'outbox' in party ? { session: party } : { call: party }
      return 'none'
    },
    ofSession: session => busy.get(session) ?? NO_CALLS,
  }
}
