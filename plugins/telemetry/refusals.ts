import { type Context, ROOT_CONTEXT, type Span } from '@opentelemetry/api'
import type { Exchange } from '../../src/contracts/pipeline.ts'
import { isObject } from '../../src/lib/is-object.ts'
import { parseJson } from '../../src/lib/parse-json.ts'
import type { JsonRpcMessage } from '../../src/net/json-rpc.ts'
import { observeResponse, type ResponseObserver } from '../../src/net/observe-response.ts'
import { type CallFacts, factsOf, spanNameOf } from './call-facts.ts'
import type { WorkloadMeter } from './metrics/workload-meter.ts'
import type { OpenCount } from './open-count.ts'
import { recordResponse } from './spans/request-record.ts'
import { parentOf } from './spans/trace-context.ts'

/** What a span is made of. */
export interface SpanFacts {
  readonly name: string
  readonly call: CallFacts | undefined
  readonly message: JsonRpcMessage | undefined
  readonly parent: Context
  /** Milliseconds since the epoch; without it now. */
  readonly startTime?: number
}

/** What callers get who may not come in. What they say of a call is not read. */
const STRANGERS: ReadonlySet<number> = new Set([401, 403])

/** Records responses to requests that have not come to the stage `telemetry`, because they were refused before. */
export function createRefusalObserver(options: {
  startSpan: (exchange: Exchange, facts: SpanFacts) => Span | undefined
  /** The exchanges that have come to the stage. */
  reached: { has(exchange: Exchange): boolean }
  meter: WorkloadMeter
  legacyAttributes: boolean
  open: OpenCount
}): (exchange: Exchange) => void {
  const { startSpan, reached, meter, legacyAttributes, open } = options

  /** Undefined where the response is no refusal of a call. */
  function record(exchange: Exchange, came: { began: number; startTime: number }) {
    const isStranger = STRANGERS.has(exchange.response.statusCode)
    const message = isStranger ? undefined : readRefused(exchange)
    const call = factsOf(message)
    if (!isStranger && !call) return undefined
    const name = call ? spanNameOf(call) : (exchange.request.method ?? '')
    // Strangers do not say which trace they are a part of, and whether it is sampled.
    const parent = call ? parentOf(exchange, message) : ROOT_CONTEXT
    const span = startSpan(exchange, { name, call, message, parent, startTime: came.startTime })
    const { began } = came
    const errorType = 'refused'
    return recordResponse({
      ...{ exchange, call, span, meter, legacyAttributes, began, errorType },
      onEnd: open.add(),
    })
  }

  return exchange => {
    const came = { began: performance.now(), startTime: Date.now() }
    let recorded: ResponseObserver | undefined
    observeResponse(exchange.response, {
      head(header) {
        if (!reached.has(exchange)) recorded = record(exchange, came)
        recorded?.head?.(header)
      },
      part: bytes => recorded?.part(bytes),
      end: how => recorded?.end(how),
    })
  }
}

/** The message of a call that was read before it was refused. */
function readRefused({ request, buffered }: Exchange): JsonRpcMessage | undefined {
  if (request.method !== 'POST' || !buffered?.length) return undefined
  try {
    const value = parseJson(buffered.toString())
    return isObject(value) && typeof value.method === 'string'
      ? (value as unknown as JsonRpcMessage)
      : undefined
  } catch {
    return undefined
  }
}
