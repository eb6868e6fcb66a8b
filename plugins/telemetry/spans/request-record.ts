import { type Attributes, type Span, SpanStatusCode } from '@opentelemetry/api'
import type { Exchange } from '../../../src/contracts/pipeline.ts'
import type { ResponseEnd, ResponseObserver } from '../../../src/net/observe-response.ts'
import {
  createEventReader,
  createJsonReader,
  type ResponseReader,
  type RpcOutcome,
} from '../../../src/net/rpc-outcome-reader.ts'
import { isEventStream } from '../../../src/net/sse.ts'
import type { CallFacts } from '../call-facts.ts'
import type { Measured, WorkloadMeter } from '../metrics/workload-meter.ts'

/**
 * Ends the span of one request, and measures it, when its response ends. The span of an event stream that the client
 * opens with GET ends when the stream begins.
 */
export function recordResponse(options: {
  readonly exchange: Exchange
  readonly call: CallFacts | undefined
  readonly span: Span | undefined
  readonly meter: WorkloadMeter
  readonly legacyAttributes: boolean
  /** When the request came, as `performance.now()` has it; without it now. */
  readonly began?: number
  /** What went wrong where the response does not say it. */
  readonly errorType?: string
  /** Called once the response has ended. */
  readonly onEnd: () => void
}): ResponseObserver {
  const { exchange, call, span, meter, legacyAttributes, began = performance.now(), onEnd } = options
  let bytes = 0
  let reader: ResponseReader | undefined
  let isStream = false
  let active = meter.open({ isStream: false })

  function finish(how: ResponseEnd | undefined): void | Promise<void> {
    const found = toMeasured({ exchange, call, how, outcome: reader?.outcome() })
    const isKnown = found.errorType !== undefined || found.status >= 400
    const measured = isKnown ? found : { ...found, errorType: options.errorType }
    const seconds = (performance.now() - began) / 1000
    const counted = isStream ? undefined : meter.measure(measured, seconds)
    if (span) endSpan(span, measured, seconds)
    return counted
  }

  function endSpan(span: Span, measured: Measured, seconds: number): void {
    const { decision } = exchange
    span.setAttributes({
      ...responseAttributes(measured, { bytes, seconds, legacyAttributes }),
      ...(decision ? { 'mcp.authorization.allowed': decision.isAllowed } : {}),
      ...(decision?.policies?.length ? { 'mcp.authorization.policies': [...decision.policies] } : {}),
    })
    if (measured.errorType !== undefined) span.setStatus({ code: SpanStatusCode.ERROR })
    else if (measured.status < 400) span.setStatus({ code: SpanStatusCode.OK })
    span.end()
  }

  return {
    head(header) {
      const status = exchange.response.statusCode
      const isEvents = isEventStream(header('content-type'))
      const isReadable =
        call?.id !== undefined && status < 300 && (header('content-encoding') ?? 'identity') === 'identity'
      if (isReadable) reader = isEvents ? createEventReader() : createJsonReader()
      if (!isEvents || exchange.request.method !== 'GET' || status >= 300) return
      isStream = true
      active()
      active = meter.open({ isStream: true })
      span?.addEvent('sse.connection_established')
      void finish(undefined)
    },
    part(part) {
      bytes += part.length
      reader?.read(part)
    },
    end(how) {
      active()
      const counted = isStream ? undefined : finish(how)
      if (counted) void counted.then(onEnd)
      else onEnd()
    },
  }
}

function toMeasured({
  exchange,
  call,
  how,
  outcome,
}: {
  exchange: Exchange
  call: CallFacts | undefined
  how: ResponseEnd | undefined
  outcome: RpcOutcome | undefined
}): Measured {
  const status = exchange.response.statusCode
  return {
    httpMethod: exchange.request.method ?? '',
    status,
    call,
    rpcCode: outcome?.error?.code,
    errorType: errorTypeOf(status, how, outcome),
    isProven: outcome?.isAnswered === true && !outcome.error && !outcome.isToolError,
  }
}

/** What went wrong, as the semantic conventions for MCP say it; of a request that the caller got wrong, only in the message. */
function errorTypeOf(
  status: number,
  how: ResponseEnd | undefined,
  outcome: RpcOutcome | undefined,
): string | undefined {
  if (status >= 500) return String(status)
  if (status >= 400) return undefined
  if (outcome?.error) return String(outcome.error.code ?? '_OTHER')
  if (outcome?.isToolError) return 'tool_error'
  if (how === 'client' && !outcome?.isAnswered) return 'cancelled'
  return how === 'cut' ? 'connection_cut' : undefined
}

function responseAttributes(
  { status, errorType, rpcCode }: Measured,
  { bytes, seconds, legacyAttributes }: { bytes: number; seconds: number; legacyAttributes: boolean },
): Attributes {
  return {
    'http.response.status_code': status,
    'http.response.body.size': bytes,
    ...(errorType === undefined ? {} : { 'error.type': errorType }),
    ...(rpcCode === undefined ? {} : { 'rpc.response.status_code': String(rpcCode) }),
    ...(legacyAttributes
      ? {
          'http.status_code': status,
          'http.response_content_length': bytes,
          'http.duration_ms': Math.round(seconds * 1e6) / 1000,
        }
      : {}),
  }
}
