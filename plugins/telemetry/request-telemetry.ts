import { type Attributes, type Context, ROOT_CONTEXT, type Span, SpanKind } from '@opentelemetry/api'
import type { Exchange, Handler, Middleware, MiddlewareContext } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { isObject } from '../../src/lib/is-object.ts'
import { parseJson } from '../../src/lib/parse-json.ts'
import { clientOf } from '../../src/net/client-info.ts'
import type { JsonRpcMessage } from '../../src/net/json-rpc.ts'
import { observeResponse, type ResponseObserver } from '../../src/net/observe-response.ts'
import { hasBody } from '../proxy/index.ts'
import { type CallFacts, factsOf } from './call-facts.ts'
import { createListedTools } from './metrics/listed-tools.ts'
import { createWorkloadMeter } from './metrics/workload-meter.ts'
import type { Providers } from './providers.ts'
import type { TelemetrySettings } from './settings.ts'
import { attributesOf, type Known, legacyAttributesOf } from './spans/attributes.ts'
import { requestFactsOf, short } from './spans/request-facts.ts'
import { recordResponse } from './spans/request-record.ts'
import { carriesTrace, parentOf, passInHeaders, passInMessage } from './spans/trace-context.ts'

/**
 * Makes a span of each request, and measures it: `requests` of those that come to its stage, `refused` of those that a
 * login or a selection of tools has refused before.
 */
export function createRequestTelemetry(
  config: RunConfig,
  settings: TelemetrySettings,
  {
    providers,
    variables,
    listTools,
    onClose,
  }: {
    providers: Providers
    variables: Attributes
    listTools: MiddlewareContext['listTools']
    onClose: () => void
  },
): { readonly requests: Middleware; readonly refused: Middleware } {
  const { tracer, instruments } = providers
  const { workload, transport, legacyAttributes } = settings
  const isListed = createListedTools(listTools)
  const meter = createWorkloadMeter(instruments, { server: workload, transport, isListed })
  const open = createOpenCount()
  const reached = new WeakSet<Exchange>()

  function startSpan(
    exchange: Exchange,
    { name, call, message, parent, startTime }: SpanFacts & { readonly parent: Context },
  ): Span | undefined {
    if (!tracer) return undefined
    const options = { kind: SpanKind.SERVER, ...(startTime === undefined ? {} : { startTime }) }
    const span = tracer.startSpan(short(name), options, parent)
    if (!span.isRecording()) return span
    const known: Known = { request: requestFactsOf(exchange, config), call, client: clientOf(message) }
    span.setAttributes(attributesOf(known, settings))
    if (legacyAttributes) span.setAttributes(legacyAttributesOf(known, settings))
    return span.setAttributes(variables)
  }

  async function handle(exchange: Exchange, next: Handler): Promise<void> {
    reached.add(exchange)
    const message = await readMessageOf(exchange)
    // Nobody is there any more.
    if (exchange.response.destroyed) return next(exchange)
    const call = factsOf(message)
    const name = call ? nameOf(call) : `${exchange.request.method} ${exchange.url.split('?', 1)[0]}`
    const span = startSpan(exchange, { name, call, message, parent: parentOf(exchange, message) })
    observeResponse(
      exchange.response,
      recordResponse({ exchange, call, span, meter, legacyAttributes, onEnd: open.add() }),
    )
    if (span) await pass(exchange, message, span)
    return next(exchange)
  }

  async function pass(exchange: Exchange, message: JsonRpcMessage | undefined, span: Span): Promise<void> {
    if (transport !== 'stdio') passInHeaders(exchange, span.spanContext())
    if (message && (transport === 'stdio' || carriesTrace(message))) {
      await passInMessage(exchange, span.spanContext())
    }
  }

  /** Of a response whose exchange has not come to the stage `telemetry`; undefined where it is no refusal of a call. */
  function recordRefused(exchange: Exchange, came: { began: number; startTime: number }) {
    const isStranger = STRANGERS.has(exchange.response.statusCode)
    const message = isStranger ? undefined : readRefused(exchange)
    const call = factsOf(message)
    if (!isStranger && !call) return undefined
    const name = call ? nameOf(call) : (exchange.request.method ?? '')
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

  function observeRefusals(exchange: Exchange): void {
    const came = { began: performance.now(), startTime: Date.now() }
    let record: ResponseObserver | undefined
    observeResponse(exchange.response, {
      head(header) {
        if (!reached.has(exchange)) record = recordRefused(exchange, came)
        record?.head?.(header)
      },
      part: bytes => record?.part(bytes),
      end: how => record?.end(how),
    })
  }

  return {
    requests: {
      name: 'telemetry',
      stage: 'telemetry',
      summary: describe(settings),
      wrap: next => exchange => handle(exchange, next),
      async close() {
        onClose()
        await open.none()
        await providers.close()
      },
    },
    refused: {
      name: 'telemetry-refused',
      stage: 'audit',
      wrap: next => exchange => {
        observeRefusals(exchange)
        return next(exchange)
      },
    },
  }
}

/** What a span is made of. */
interface SpanFacts {
  readonly name: string
  readonly call: CallFacts | undefined
  readonly message: JsonRpcMessage | undefined
  /** Milliseconds since the epoch; without it now. */
  readonly startTime?: number
}

/** What callers get who may not come in. What they say of a call is not read. */
const STRANGERS: ReadonlySet<number> = new Set([401, 403])

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

const describe = ({ endpoint, tracing, metrics, prometheus }: TelemetrySettings): string =>
  [
    ...(endpoint
      ? [`${[tracing && 'traces', metrics && 'metrics'].filter(Boolean).join(' and ')} to ${endpoint.base}`]
      : []),
    ...(prometheus ? [`metrics on port ${prometheus.port}`] : []),
  ].join('; ')

/**
 * The message of a request. What is not one is for the stages after this one to refuse, or to pass on; a body that does
 * not arrive, or is too long, is refused here as it would be there.
 */
async function readMessageOf(exchange: Exchange): Promise<JsonRpcMessage | undefined> {
  if (!carriesMessage(exchange)) return undefined
  await exchange.body()
  return exchange.message().catch(() => undefined)
}

const carriesMessage = ({ request }: Exchange): boolean =>
  request.method === 'POST' && hasBody(request) && /json/i.test(request.headers['content-type'] ?? 'json')

/** The name of the span; of a resource without its URI, of which there are too many. */
const nameOf = ({ method, tool, prompt }: CallFacts): string => {
  const target = tool ?? prompt
  return target ? `${method} ${target}` : method
}

/** Counts what is under way. */
function createOpenCount() {
  let count = 0
  let onNone: (() => void) | undefined
  return {
    /** Returns the function that ends it. */
    add() {
      count += 1
      return () => {
        count -= 1
        if (count === 0) onNone?.()
      }
    },
    none: () => (count === 0 ? Promise.resolve() : new Promise<void>(resolve => (onNone = resolve))),
  }
}
