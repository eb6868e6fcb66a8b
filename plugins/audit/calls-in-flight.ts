import type { RequestId } from '../../src/net/json-rpc.ts'
import type { AuditRecord } from './audit-record.ts'

/** The calls that wait for their responses, so that those that their client cancels can be told. */
export interface CallsInFlight {
  add(client: string, id: RequestId, record: AuditRecord): void
  remove(client: string, id: RequestId, record: AuditRecord): void
  /**
   * Notes that the client does not want the response any more. Nothing is noted where several calls have the id: without
   * a session, programs of one user cannot be told apart.
   */
  cancel(client: string, id: unknown): void
}

export function createCallsInFlight(): CallsInFlight {
  const calls = new Map<string, Set<AuditRecord>>()
  const keyOf = (client: string, id: unknown) => JSON.stringify([client, id])
  return {
    add(client, id, record) {
      const key = keyOf(client, id)
      calls.set(key, (calls.get(key) ?? new Set()).add(record))
    },
    remove(client, id, record) {
      const key = keyOf(client, id)
      const same = calls.get(key)
      if (same?.delete(record) && same.size === 0) calls.delete(key)
    },
    cancel(client, id) {
      const [record, ...others] = calls.get(keyOf(client, id)) ?? []
      if (record && others.length === 0) record.isCancelled = true
    },
  }
}
