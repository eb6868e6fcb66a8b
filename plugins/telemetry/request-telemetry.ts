import { type Attributes, type Span, SpanKind } from '@opentelemetry/api'
import type { Exchange, Handler, Middleware, MiddlewareContext } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { clientOf } from '../../src/net/client-info.ts'
import type { JsonRpcMessage } from '../../src/net/json-rpc.ts'
import { observeResponse } from '../../src/net/observe-response.ts'
import { hasBody } from '../proxy/index.ts'
import { factsOf, spanNameOf } from './call-facts.ts'
import { createListedTools } from './metrics/listed-tools.ts'
import { createWorkloadMeter } from './metrics/workload-meter.ts'
import { createOpenCount } from './open-count.ts'
import type { Providers } from './providers.ts'
import { createRefusalObserver, type SpanFacts } from './refusals.ts'
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
    { name, call, message, parent, startTime }: SpanFacts,
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
    const name = call ? spanNameOf(call) : `${exchange.request.method} ${exchange.url.split('?', 1)[0]}`
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

  const observeRefusals = createRefusalObserver({ startSpan, reached, meter, legacyAttributes, open })

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
