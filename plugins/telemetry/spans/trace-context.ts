import {
  type Context,
  createTraceState,
  isSpanContextValid,
  ROOT_CONTEXT,
  type SpanContext,
  trace,
} from '@opentelemetry/api'
import type { Exchange } from '../../../src/contracts/pipeline.ts'
import { isObject } from '../../../src/lib/is-object.ts'
import { mergeRaw, splice, toRaw } from '../../../src/lib/raw-json.ts'
import type { JsonRpcMessage } from '../../../src/net/json-rpc.ts'
import { paramText, readMessage } from '../../../src/net/rpc-message.ts'

/** What a request says of the trace that it is a part of (W3C Trace Context, W3C Baggage). */
interface Carried {
  readonly traceparent?: string
  readonly tracestate?: string
  readonly baggage?: string
}

/** W3C Trace Context, section 3.2.2: a version, a trace id, a span id and flags. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const MOST_STATE = 512
const MOST_BAGGAGE = 8192

/** The context that a request continues: that of its message (`params._meta`), else that of its headers. */
export function parentOf({ request }: Exchange, message: JsonRpcMessage | undefined): Context {
  const { traceparent, tracestate } = request.headers
  const found =
    toSpanContext(metaOf(message)) ??
    toSpanContext({
      ...(typeof traceparent === 'string' ? { traceparent } : {}),
      ...(tracestate === undefined ? {} : { tracestate: String(tracestate) }),
    })
  return found ? trace.setSpanContext(ROOT_CONTEXT, found) : ROOT_CONTEXT
}

function metaOf(message: JsonRpcMessage | undefined): Carried {
  const meta = message && 'params' in message && isObject(message.params) ? message.params._meta : undefined
  if (!isObject(meta)) return {}
  const { traceparent, tracestate } = meta
  return {
    ...(typeof traceparent === 'string' ? { traceparent } : {}),
    ...(typeof tracestate === 'string' ? { tracestate } : {}),
  }
}

function toSpanContext({ traceparent = '', tracestate }: Carried): SpanContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(traceparent.trim()) ?? []
  if (version === undefined || (version === '00' && more)) return undefined
  const found: SpanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
  if (!isSpanContextValid(found)) return undefined
  const hasState = tracestate && tracestate.length <= MOST_STATE
  return hasState ? { ...found, traceState: createTraceState(tracestate) } : found
}

function toCarried({ traceId, spanId, traceFlags, traceState }: SpanContext): Carried {
  const state = traceState?.serialize()
  const flags = (traceFlags & 1).toString(16).padStart(2, '0')
  return { traceparent: `00-${traceId}-${spanId}-${flags}`, ...(state ? { tracestate: state } : {}) }
}

/** Lets an HTTP server continue the trace. */
export function passInHeaders(exchange: Exchange, span: SpanContext): void {
  const { traceparent, tracestate } = toCarried(span)
  exchange.setHeader('traceparent', traceparent)
  exchange.setHeader('tracestate', tracestate)
}

/** The baggage of the headers, for a message that has none. */
function baggageOf({ request: { headers } }: Exchange): Carried {
  const { baggage } = headers
  return typeof baggage === 'string' && baggage.length <= MOST_BAGGAGE ? { baggage } : {}
}

/** Whether the message itself says which trace it is a part of: its server may go by that. */
export const carriesTrace = (message: JsonRpcMessage | undefined): boolean =>
  toSpanContext(metaOf(message)) !== undefined

/**
 * Lets a server that goes by the message, as stdio servers do, continue the trace of a request. All else of the
 * message stays byte for byte.
 */
export async function passInMessage(exchange: Exchange, span: SpanContext): Promise<void> {
  const message = readMessage((await exchange.rawText()) ?? '')
  if (message?.kind !== 'request') return
  const { text, params } = message
  const given = params && text.slice(params.start, params.end)
  if (given !== undefined && !given.startsWith('{')) return
  const meta = paramText(message, '_meta')
  if (meta !== undefined && !meta.startsWith('{')) return
  const ofHeaders = mergeRaw(toRaw(JSON.stringify(baggageOf(exchange))), meta ?? '{}')
  const carried = mergeRaw(ofHeaders, toRaw(JSON.stringify(toCarried(span))))
  const wanted = mergeRaw(given ?? '{}', `{"_meta":${carried}}`)
  const changed = params
    ? splice(text, [{ span: params, text: wanted }])
    : `${text.trimEnd().slice(0, -1)},"params":${wanted}}`
  exchange.replaceBody(Buffer.from(changed, 'latin1'))
}
