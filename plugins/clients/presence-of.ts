import type { Status, StatusRecord } from '../../src/contracts/workload.ts'
import { processIdentity } from '../../src/lib/process-identity.ts'
import type { Candidate } from './service.ts'

/** Statuses in which the workload's proxy listens. */
const LISTENS: ReadonlySet<Status> = new Set(['running', 'unhealthy', 'auth_retrying', 'unauthenticated'])

/**
 * Whether clients should see a workload. One that is brought back after a crash is in between, and so is one
 * whose host was killed: the next supervisor is about to take it over.
 */
export function presenceOf(record: StatusRecord | undefined): Candidate['presence'] {
  if (!record) return 'down'
  if (record.status === 'starting') return 'between'
  if (!LISTENS.has(record.status)) return 'down'
  return processIdentity(record.process_id) === undefined ? 'between' : 'up'
}
