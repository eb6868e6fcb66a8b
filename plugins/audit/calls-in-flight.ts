import type { RequestId } from '../../src/net/json-rpc.ts'
import type { AuditRecord } from './audit-record.ts'

/** The calls that wait for their responses, so that those that their client cancels can be told. */
export interface CallsInFlight {
  add(session: string, id: RequestId, record: AuditRecord): void
  remove(session: string, id: RequestId): void
  /** Notes that the client does not want the response any more. */
  cancel(session: string, id: unknown): void
}

export function createCallsInFlight(): CallsInFlight {
  const calls = new Map<string, AuditRecord>()
  const keyOf = (session: string, id: unknown) => JSON.stringify([session, id])
  return {
    add: (session, id, record) => void calls.set(keyOf(session, id), record),
    remove: (session, id) => void calls.delete(keyOf(session, id)),
    cancel(session, id) {
      const record = calls.get(keyOf(session, id))
      if (record) record.isCancelled = true
    },
  }
}
