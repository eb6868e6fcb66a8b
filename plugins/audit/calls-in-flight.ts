import type { Caller } from '../../src/contracts/caller-auth.ts'
import type { AuditRecord } from './audit-record.ts'

/** The calls that wait for their responses, so that those that their client cancels can be told. */
export interface CallsInFlight {
  add(key: CallKey, record: AuditRecord): void
  remove(key: CallKey, record: AuditRecord): void
  /**
   * Notes that the client does not want the response any more. Nothing is noted where several calls have the id: without
   * a session, programs of one user cannot be told apart.
   */
  cancel(key: CallKey): void
}

/** Who calls, and the id of the call. */
export type CallKey = string & { readonly isCallKey: never }

/** @param place the session of the call, or where it comes from */
export const toCallKey = (place: string | undefined, caller: Caller | undefined, id: unknown): CallKey =>
  JSON.stringify([place, caller?.issuer, caller?.subject, id]) as CallKey

export function createCallsInFlight(): CallsInFlight {
  const calls = new Map<CallKey, Set<AuditRecord>>()
  return {
    add(key, record) {
      calls.set(key, (calls.get(key) ?? new Set()).add(record))
    },
    remove(key, record) {
      const same = calls.get(key)
      if (same?.delete(record) && same.size === 0) calls.delete(key)
    },
    cancel(key) {
      const [record, ...others] = calls.get(key) ?? []
      if (record && others.length === 0) record.isCancelled = true
    },
  }
}
