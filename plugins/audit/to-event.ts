import type { Decision } from '../../src/contracts/pipeline.ts'
import { redact } from '../../src/lib/redact.ts'
import type { ClientInfo } from '../../src/net/client-info.ts'
import { isRequest, type JsonRpcMessage } from '../../src/net/json-rpc.ts'
import { isLoopback } from '../../src/net/loopback.ts'
import type { ResponseEnd } from '../../src/net/observe-response.ts'
import type { AuditRecord, Phase } from './audit-record.ts'
import { type Part, toData } from './event-data.ts'
import { short, toDelegation, toSubjects } from './subjects.ts'
import { toTarget } from './target.ts'
import type { WorkloadAudit } from './workload-audit.ts'

interface Known {
  readonly message: JsonRpcMessage | undefined
  /** Which of the messages of a batch it is, from 0. */
  readonly batchIndex?: number
  readonly type: string
  /** Absent where one event is all there is of a request. */
  readonly phase?: Phase
  /** How the response ended; undefined when it has not. */
  readonly ended: ResponseEnd | undefined
  readonly client: ClientInfo | undefined
}

type Outcome = 'success' | 'denied' | 'failure' | 'error' | 'application_error' | 'cancelled' | 'pending'

/** The event of a record, as it is written. */
export function toEvent(record: AuditRecord, audit: WorkloadAudit, known: Known): object {
  const { exchange } = record
  const { settings } = audit
  const now = new Date().toISOString()
  const caller = exchange.caller
  const delegation = toDelegation(caller, settings.maxDelegationDepth)
  const data = dataOf(record, audit, known)
  return {
    time: now,
    level: 'AUDIT',
    msg: 'audit_event',
    audit_id: record.id,
    type: known.type,
    ...(known.phase ? { phase: known.phase } : {}),
    logged_at: now,
    outcome: outcomeOf(record, audit, known),
    component: settings.component,
    source: sourceOf(record, audit),
    subjects: toSubjects(caller ?? (isLocal(record, audit) ? 'local' : undefined), known.client),
    ...(delegation ? { delegation } : {}),
    target: toTarget(
      exchange.url,
      exchange.request.method ?? '',
      known.message,
      known.type === 'sse_connection',
    ),
    metadata: { extra: extraOf(record, audit, known) },
    ...(data ? { data } : {}),
  }
}

function outcomeOf(record: AuditRecord, { settings }: WorkloadAudit, { ended }: Known): Outcome {
  const { status, exchange, reader } = record
  if (ended === undefined) return record.isLongStream ? 'success' : 'pending'
  if (exchange.decision?.isAllowed === false || status === 401 || status === 403) return 'denied'
  if (status !== undefined && status >= 500) return 'error'
  if (status !== undefined && status >= 400) return 'failure'
  if (record.isCancelled) return 'cancelled'
  const outcome = reader?.outcome
  const isApplicationError = settings.detectApplicationErrors && (outcome?.error || outcome?.isToolError)
  if (isApplicationError) return 'application_error'
  if (record.isLongStream || ended === 'complete') return 'success'
  return ended === 'client' ? 'cancelled' : 'error'
}

/** Requests of this machine that the guard let through are the user's own where nobody has to log in. */
function isLocal({ exchange, isForwarded, status }: AuditRecord, { hasLogin }: WorkloadAudit): boolean {
  if (hasLogin || !isLoopback(exchange.request.socket.remoteAddress ?? '')) return false
  return isForwarded || exchange.decision !== undefined || (status !== 401 && status !== 403)
}

function sourceOf({ exchange: { request } }: AuditRecord, { trustsForwarded }: WorkloadAudit): object {
  const { headers, socket } = request
  const forwarded = trustsForwarded ? headers['x-forwarded-for']?.toString() : undefined
  const extra = {
    ...(headers['user-agent'] ? { user_agent: short(redact(headers['user-agent'])) } : {}),
    ...(headers['x-request-id'] ? { request_id: short(redact(headers['x-request-id'].toString())) } : {}),
    ...(forwarded ? { forwarded_for: short(forwarded) } : {}),
  }
  return { type: 'network', value: socket.remoteAddress ?? 'unknown', extra }
}

function extraOf(record: AuditRecord, { name, transport, settings }: WorkloadAudit, known: Known): object {
  const { exchange, reader, status, bytes, began } = record
  const { message, batchIndex } = known
  const { decision } = exchange
  const outcome = settings.detectApplicationErrors ? reader?.outcome : undefined
  const isOver = known.ended !== undefined
  return {
    transport,
    backend_name: name,
    ...(isOver ? { duration_ms: Math.round((performance.now() - began) * 1000) / 1000 } : {}),
    ...(status === undefined ? {} : { http_status: status }),
    ...(isOver ? { response_size_bytes: bytes } : {}),
    ...(known.ended && known.ended !== 'complete' ? { ended: known.ended } : {}),
    ...(isRequest(message) ? { jsonrpc_id: shortId(message.id) } : {}),
    ...(batchIndex === undefined ? {} : { batch_index: batchIndex }),
    ...(outcome?.error?.code === undefined ? {} : { jsonrpc_error_code: outcome.error.code }),
    ...(outcome?.error ? { jsonrpc_error_message: short(redact(outcome.error.message)) } : {}),
    ...(outcome?.isToolError ? { tool_error: true } : {}),
    ...(decision ? { decision: toRecord(decision) } : {}),
  }
}

const toRecord = ({ isAllowed, policies = [], reason }: Decision): object => ({
  allowed: isAllowed,
  policies,
  ...(reason === undefined ? {} : { reason }),
})

const shortId = (id: string | number) => (typeof id === 'string' ? short(id) : id)

function dataOf(
  record: AuditRecord,
  { settings }: WorkloadAudit,
  { phase, message }: Known,
): object | undefined {
  const { exchange, contentType, prefix, bytes } = record
  if (!message) return undefined
  const body = settings.includeRequestData ? exchange.buffered : undefined
  const most = settings.maxDataSize
  const request = body ? toPart(body.subarray(0, most).toString('utf8'), body.length, most) : undefined
  const response = prefix && phase !== 'open' ? toPart(prefix.text(), bytes, most) : undefined
  const data = {
    ...(request ? toData('request', request, undefined) : {}),
    ...(response?.bytes ? toData('response', response, contentType) : {}),
  }
  return Object.keys(data).length ? data : undefined
}

const toPart = (text: string, bytes: number, most: number): Part => ({ text, bytes, isCut: bytes > most })
