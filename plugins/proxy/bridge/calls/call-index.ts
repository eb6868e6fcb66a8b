import { idKey } from '../../../../src/net/rpc-message.ts'
import type { Session } from '../clients/client-sessions.ts'
import type { Connection } from '../server/connection.ts'
import type { Call } from './call.ts'
import type { Calls } from './pending-calls.ts'

/** Methods that cause no messages of the server: look-ups and settings. */
const LOOKUPS =
  /^(ping|initialize|logging\/setLevel|completion\/complete|resources\/(un)?subscribe|server\/discover|subscriptions\/listen|.*\/list)$/

/** The oldest beyond this number are forgotten, so that clients cannot fill the memory. */
const MAX_GIVEN_UP = 10_000

const NO_CALLS: ReadonlySet<Call> = new Set()

/** The calls in flight, by id, by client and by the client's own request ids. */
export interface CallIndex extends Pick<Calls, 'atWork' | 'ofSession'> {
  readonly byId: ReadonlyMap<number, Call>
  add(call: Call): void
  remove(call: Call): void
  /** Gives a call another id. */
  renumber(call: Call, id: number): void
  /** Removes a call that the server may still work on. Until it is forgotten, `atWork` counts it. */
  giveUp(call: Call): void
  /** Forgets calls that were given up: the one with this id, or all of a server process. */
  forget(which: number | Connection): void
}

export function createCallIndex({
  now,
  givenUpMs,
  onRemove,
}: {
  now: () => number
  givenUpMs: number
  /** Called once for each call that was added. */
  onRemove: (call: Call) => void
}): CallIndex {
  const byId = new Map<number, Call>()
  /** For each client, the calls that may cause messages of the server. */
  const busy = new Map<Session | Call, Set<Call>>()
  /** By id, oldest first, with the time at which each is forgotten. */
  const givenUp = new Map<number, { session: Session | undefined; peer: Connection; until: number }>()

  function remove(call: Call): void {
    if (byId.delete(call.id)) onRemove(call)
    call.onEnd?.()
    const party = call.session ?? call
    const working = busy.get(party)
    if (working?.delete(call) && working.size === 0) busy.delete(party)
    if (!call.session) return
    const key = idKey(call.idText)
    const same = call.session.calls.get(key)
    if (same?.delete(call) && same.size === 0) call.session.calls.delete(key)
  }

  function forgetOldest(): void {
    for (const [id, { until }] of givenUp) {
      if (until > now() && givenUp.size <= MAX_GIVEN_UP) return
      givenUp.delete(id)
    }
  }

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
    remove,
    renumber(call, id) {
      byId.delete(call.id)
      call.id = id
      byId.set(id, call)
    },
    giveUp(call) {
      remove(call)
      if (LOOKUPS.test(call.method)) return
      const { id, session, peer } = call
      givenUp.set(id, { session, peer, until: now() + givenUpMs })
      forgetOldest()
    },
    forget(which) {
      if (typeof which === 'number') givenUp.delete(which)
      else for (const [id, { peer }] of givenUp) if (peer === which) givenUp.delete(id)
    },
    atWork() {
      forgetOldest()
      const [party] = busy.keys()
      if (busy.size > 1) return 'uncertain'
      // A client without a session is never the same as another.
      for (const { session } of givenUp.values()) if (!session || session !== party) return 'uncertain'
      if (!party) return 'none'
      return 'outbox' in party ? { session: party } : { call: party }
    },
    ofSession: session => busy.get(session) ?? NO_CALLS,
  }
}
