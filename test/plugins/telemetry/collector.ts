import type { IncomingHttpHeaders } from 'node:http'
import { testServer } from '../proxy/test-proxy.ts'
import {
  bytesOf,
  doubleOf,
  type Fields,
  has,
  messageOf,
  messagesOf,
  numberOf,
  readFields,
  textOf,
} from './protobuf.ts'

type Attributes = Record<string, unknown>

export interface CollectedSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  /** Empty: none. */
  readonly parentId: string
  readonly attributes: Attributes
  readonly events: readonly string[]
  /** 0: unset, 1: OK, 2: error. */
  readonly status: number
  readonly resource: Attributes
}

export interface CollectedPoint {
  readonly metric: string
  readonly unit: string
  readonly attributes: Attributes
  /** Of a histogram, how many were measured. */
  readonly value: number
  /** Of a histogram. */
  readonly bounds: readonly number[]
}

export interface CollectedLog {
  readonly event: string
  readonly body: unknown
  readonly attributes: Attributes
}

export interface Collector {
  /** HOST:PORT. */
  readonly endpoint: string
  readonly spans: readonly CollectedSpan[]
  readonly logs: readonly CollectedLog[]
  /** Of the newest export with any of that name. */
  points(metric: string): readonly CollectedPoint[]
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders }[]
  /** What it responds from now on. */
  respond(status: number): void
}

/** An OTLP receiver in this process (HTTP, binary Protobuf; opentelemetry-proto 1.x). */
export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = []
  const logs: CollectedLog[] = []
  const requests: { path: string; headers: IncomingHttpHeaders }[] = []
  let points: CollectedPoint[] = []
  let status = 200
  const origin = await testServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const fields = readFields(Buffer.concat(parts))
    requests.push({ path: request.url ?? '', headers: request.headers })
    if (status === 200 && request.url?.endsWith('/v1/traces')) spans.push(...toSpans(fields))
    if (status === 200 && request.url?.endsWith('/v1/logs')) logs.push(...toLogs(fields))
    if (status === 200 && request.url?.endsWith('/v1/metrics')) points = toPoints(fields)
    response.writeHead(status).end()
  })
  return {
    endpoint: origin.replace('http://', ''),
    spans,
    logs,
    points: metric => points.filter(point => point.metric === metric),
    requests,
    respond(next) {
      status = next
    },
  }
}

const toSpans = (request: Fields): CollectedSpan[] =>
  messagesOf(request, 1).flatMap(one => {
    const resource = toAttributes(messagesOf(messageOf(one, 1), 1))
    return messagesOf(one, 2).flatMap(scope => messagesOf(scope, 2).map(span => toSpan(span, resource)))
  })

const toSpan = (span: Fields, resource: Attributes): CollectedSpan => ({
  name: textOf(span, 5),
  traceId: bytesOf(span, 1).toString('hex'),
  spanId: bytesOf(span, 2).toString('hex'),
  parentId: bytesOf(span, 4).toString('hex'),
  attributes: toAttributes(messagesOf(span, 9)),
  events: messagesOf(span, 11).map(event => textOf(event, 2)),
  status: numberOf(messageOf(span, 15), 3),
  resource,
})

const toLogs = (request: Fields): CollectedLog[] =>
  messagesOf(request, 1).flatMap(one =>
    messagesOf(one, 2).flatMap(scope =>
      messagesOf(scope, 2).map(record => ({
        event: textOf(record, 12),
        body: toValue(messageOf(record, 5)),
        attributes: toAttributes(messagesOf(record, 6)),
      })),
    ),
  )

const toPoints = (request: Fields): CollectedPoint[] =>
  messagesOf(request, 1).flatMap(one =>
    messagesOf(one, 2).flatMap(scope => messagesOf(scope, 2).flatMap(toMetricPoints)),
  )

function toMetricPoints(metric: Fields): CollectedPoint[] {
  const common = { metric: textOf(metric, 1), unit: textOf(metric, 3) }
  const sums = messagesOf(messageOf(metric, 7), 1).map(point => ({
    ...common,
    attributes: toAttributes(messagesOf(point, 7)),
    value: has(point, 6) ? numberOf(point, 6) : doubleOf(point, 4),
    bounds: [],
  }))
  const histograms = messagesOf(messageOf(metric, 9), 1).map(point => ({
    ...common,
    attributes: toAttributes(messagesOf(point, 9)),
    value: numberOf(point, 4),
    bounds: toDoubles(bytesOf(point, 7)),
  }))
  return [...sums, ...histograms]
}

const toDoubles = (packed: Buffer): number[] =>
  Array.from({ length: packed.length / 8 }, (_, index) => packed.readDoubleLE(index * 8))

const toAttributes = (pairs: readonly Fields[]): Attributes =>
  Object.fromEntries(pairs.map(pair => [textOf(pair, 1), toValue(messageOf(pair, 2))]))

function toValue(value: Fields): unknown {
  if (has(value, 1)) return textOf(value, 1)
  if (has(value, 2)) return numberOf(value, 2) === 1
  if (has(value, 3)) return numberOf(value, 3)
  if (has(value, 4)) return doubleOf(value, 4)
  return has(value, 5) ? messagesOf(messageOf(value, 5), 1).map(toValue) : undefined
}
