import { type Attributes, type Context, type Span, SpanKind } from '@opentelemetry/api'
import type { Exchange, Handler, Middleware } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { clientOf } from '../../src/net/client-info.ts'
import type { JsonRpcMessage } from '../../src/net/json-rpc.ts'
import { observeResponse } from '../../src/net/observe-response.ts'
import { hasBody } from '../proxy/index.ts'
import { type CallFacts, factsOf } from './call-facts.ts'
import { createWorkloadMeter } from './metrics/workload-meter.ts'
import type { Providers } from './providers.ts'
import type { TelemetrySettings } from './settings.ts'
import { attributesOf, type Known, legacyAttributesOf } from './spans/attributes.ts'
import { requestFactsOf, short } from './spans/request-facts.ts'
import { recordResponse } from './spans/request-record.ts'
import { carriesTrace, parentOf, passInHeaders, passInMessage } from './spans/trace-context.ts'

/** Makes a span of each request, and measures it. */
export function createRequestTelemetry(
  config: RunConfig,
  settings: TelemetrySettings,
  { providers, variables, onClose }: { providers: Providers; variables: Attributes; onClose: () => void },
): Middleware {
  const { tracer, instruments } = providers
  const { workload, transport, legacyAttributes } = settings
  const meter = createWorkloadMeter(instruments, { server: workload, transport })
  const open = createOpenCount()

  function startSpan(
    exchange: Exchange,
    call: CallFacts | undefined,
    message: JsonRpcMessage | undefined,
  ): Span | undefined {
    if (!tracer) return undefined
    const parent: Context = parentOf(exchange, message)
    const name = call ? nameOf(call) : `${exchange.request.method} ${exchange.url.split('?', 1)[0]}`
    const span = tracer.startSpan(short(name), { kind: SpanKind.SERVER }, parent)
    if (!span.isRecording()) return span
    const known: Known = { request: requestFactsOf(exchange, config), call, client: clientOf(message) }
    span.setAttributes(attributesOf(known, settings))
    if (legacyAttributes) span.setAttributes(legacyAttributesOf(known, settings))
    return span.setAttributes(variables)
  }

  async function handle(exchange: Exchange, next: Handler): Promise<void> {
    const message = await readMessageOf(exchange)
    // Nobody is there any more.
    if (exchange.response.destroyed) return next(exchange)
    const call = factsOf(message)
    const span = startSpan(exchange, call, message)
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

  return {
    name: 'telemetry',
    stage: 'telemetry',
    summary: describe(settings),
    wrap: next => exchange => handle(exchange, next),
    async close() {
      onClose()
      await open.none()
      await providers.close()
    },
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
