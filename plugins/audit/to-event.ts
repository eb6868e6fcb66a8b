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

/** The event of a record. Members that are undefined are not written. */
export function toEvent(record: AuditRecord, audit: WorkloadAudit, known: Known): object {
  const { exchange } = record
  const { settings } = audit
  const now = new Date().toISOString()
  const caller = exchange.caller
  const method = exchange.request.method ?? ''
  return {
    time: now,
    level: 'AUDIT',
    msg: 'audit_event',
    audit_id: record.id,
    type: known.type,
    phase: known.phase,
    logged_at: now,
    outcome: outcomeOf(record, audit, known),
    component: settings.component,
    source: sourceOf(record, audit),
    subjects: toSubjects(caller ?? (isLocal(record, audit) ? 'local' : undefined), known.client),
    delegation: toDelegation(caller, settings.maxDelegationDepth),
    target: toTarget(exchange.url, method, known.message, known.type === 'sse_connection'),
    metadata: { extra: extraOf(record, audit, known) },
    data: dataOf(record, audit, known),
  }
}

function outcomeOf(record: AuditRecord, { settings }: WorkloadAudit, { ended }: Known): Outcome {
  const { status, exchange, reader } = record
  if (ended === undefined) return record.isLongStream ? 'success' : 'pending'
  if (exchange.decision?.isAllowed === false || status === 401 || status === 403) return 'denied'
  if (status !== undefined && status >= 500) return 'error'
  if (status !== undefined && status >= 400) return 'failure'
  if (record.isCancelled) return 'cancelled'
  const outcome = reader?.outcome()
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
  const userAgent = headers['user-agent']
  const requestId = headers['x-request-id']?.toString()
  const extra = {
    user_agent: userAgent ? short(redact(userAgent)) : undefined,
    request_id: requestId ? short(redact(requestId)) : undefined,
    forwarded_for: forwarded ? short(forwarded) : undefined,
  }
  return { type: 'network', value: socket.remoteAddress ?? 'unknown', extra }
}

function extraOf(record: AuditRecord, audit: WorkloadAudit, known: Known): object {
  const { name, settings } = audit
  const { exchange, reader, status, bytes, began } = record
  const { message, ended } = known
  const { decision } = exchange
  const outcome = settings.detectApplicationErrors ? reader?.outcome() : undefined
  const isOver = ended !== undefined
  return {
    transport: audit.isOverSse(exchange) ? 'sse' : 'http',
    backend_name: name,
    nested_in: record.outerId,
    duration_ms: isOver ? Math.round((performance.now() - began) * 1000) / 1000 : undefined,
    http_status: status,
    response_size_bytes: isOver ? bytes : undefined,
    ended: ended === 'complete' ? undefined : ended,
    jsonrpc_id: isRequest(message) ? shortId(message.id) : undefined,
    batch_index: known.batchIndex,
    jsonrpc_error_code: outcome?.error?.code,
    jsonrpc_error_message: outcome?.error ? short(redact(outcome.error.message)) : undefined,
    tool_error: outcome?.isToolError,
    decision: decision && toRecord(decision),
  }
}

const toRecord = ({ isAllowed, policies = [], reason }: Decision): object => ({
  allowed: isAllowed,
  policies,
  reason,
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
