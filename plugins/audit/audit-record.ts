import type { Exchange } from '../../src/contracts/pipeline.ts'
import { parseJson } from '../../src/lib/parse-json.ts'
import { repeatedMember } from '../../src/lib/raw-json.ts'
import { isMessage, isRequest, type JsonRpcMessage } from '../../src/net/json-rpc.ts'
import type { ResponseEnd, ResponseObserver } from '../../src/net/observe-response.ts'
import {
  createEventReader,
  createJsonReader,
  createPrefix,
  type ResponseReader,
} from '../../src/net/rpc-outcome-reader.ts'
import { isEventStream } from '../../src/net/sse.ts'
import { type CallKey, toCallKey } from './calls-in-flight.ts'
import { typeOfMessage } from './event-types.ts'
import { toEvent } from './to-event.ts'
import type { WorkloadAudit } from './workload-audit.ts'

/** Messages of one batch that have an event of their own. */
const MOST_OF_BATCH = 1000

/** `open`: the request goes to the server, or its stream has begun. `end`: the response is complete or was broken off. */
export type Phase = 'open' | 'end'

/**
 * What becomes known of one exchange, until its line is written: before the last byte of the response is sent, or before
 * the event of a stream that is the JSON-RPC response.
 */
export class AuditRecord implements ResponseObserver {
  readonly id = crypto.randomUUID()
  readonly began = performance.now()
  readonly exchange: Exchange
  /** The id of the record of the exchange in whose course this one was made. */
  outerId: string | undefined
  message: JsonRpcMessage | undefined
  /** Whether all stages let the request through to the server. */
  isForwarded = false
  /** Whether the client has cancelled the call. */
  isCancelled = false
  /** A stream that lasts by itself has an event of its own for its begin. */
  isLongStream = false
  /** Of the response; undefined while it has no head. */
  status: number | undefined
  contentType: string | undefined
  bytes = 0
  reader: ResponseReader | undefined
  prefix: ReturnType<typeof createPrefix> | undefined
  readonly #audit: WorkloadAudit
  #session: string
  #isWritten = false
  #isOpened = false
  /** Of a call that the server has. */
  #callKey: CallKey | undefined

  constructor(audit: WorkloadAudit, exchange: Exchange) {
    this.#audit = audit
    this.exchange = exchange
    this.#session = String(exchange.request.headers['mcp-session-id'] ?? '')
  }

  #keyOf(id: unknown): CallKey {
    const { caller, request } = this.exchange
    return toCallKey(this.#session || request.socket.remoteAddress, caller, id)
  }

  /** Called right before the request goes to the server. Returns why it could not be recorded, where it had to be. */
  forwarded(message: JsonRpcMessage | undefined): string | undefined {
    const { calls, settings } = this.#audit
    this.message = message
    this.isForwarded = true
    if (isRequest(message)) {
      this.#callKey = this.#keyOf(message.id)
      calls.add(this.#callKey, this)
    } else if (message && 'method' in message && message.method === 'notifications/cancelled')
      calls.cancel(this.#keyOf(message.params?.requestId))
    return settings.isStrict ? this.#open() : undefined
  }

  head(header: (name: string) => string | undefined): void {
    const { request, response } = this.exchange
    const { settings, clients } = this.#audit
    this.status = response.statusCode
    this.contentType = header('content-type')
    const isStream = isEventStream(this.contentType)
    const isSuccess = this.status >= 200 && this.status < 300
    const { message } = this
    const isReadable =
      isRequest(message) && isSuccess && (header('content-encoding') ?? 'identity') === 'identity'
    if (isReadable) this.reader = isStream ? createEventReader() : createJsonReader()
    if (settings.includeResponseData && message) this.prefix = createPrefix(settings.maxDataSize)
    clients.note(header('mcp-session-id'), message)
    this.isLongStream =
      isStream &&
      isSuccess &&
      (request.method === 'GET' || (isRequest(message) && message.method === 'subscriptions/listen'))
    if (this.isLongStream) this.#open()
  }

  part(bytes: Buffer): void {
    this.bytes += bytes.length
    this.prefix?.add(bytes)
    const isAnswered = this.reader?.read(bytes) ?? false
    if (isAnswered && !this.isLongStream) this.#finish('complete')
  }

  end(how: ResponseEnd): void {
    if (this.#callKey !== undefined) this.#audit.calls.remove(this.#callKey, this)
    this.#finish(how)
  }

  #open(): string | undefined {
    if (this.#isOpened) return undefined
    this.#isOpened = true
    return this.#write('open', undefined)
  }

  #finish(how: ResponseEnd): void {
    if (this.#isWritten) return
    this.#isWritten = true
    this.message ??= bufferedMessage(this.exchange)
    this.#write('end', how)
  }

  #write(phase: Phase, ended: ResponseEnd | undefined): string | undefined {
    const messages = this.message ? [this.message] : batchOf(this.exchange)
    const problems = messages.map((message, i) =>
      this.#writeOne(phase, { message, ended, ...(messages.length > 1 ? { batchIndex: i } : {}) }),
    )
    return problems.find(problem => problem !== undefined)
  }

  #writeOne(
    phase: Phase,
    known: { message: JsonRpcMessage | undefined; ended: ResponseEnd | undefined; batchIndex?: number },
  ): string | undefined {
    const { settings, log, client } = this.#audit
    const type = this.#type(known.message)
    // The server may read a call where nobody here can: that is recorded, whichever types are.
    const isUnread = this.isForwarded && !known.message && this.exchange.request.method === 'POST'
    if (!isUnread && !settings.isWanted(type)) return undefined
    const isPaired = this.#isOpened
    return log.write(
      toEvent(this, this.#audit, {
        ...known,
        type,
        ...(isPaired ? { phase } : {}),
        client: client(known.message, this.#session),
      }),
    )
  }

  #type(message: JsonRpcMessage | undefined): string {
    if (message) return typeOfMessage(message)
    const { method, headers } = this.exchange.request
    return method === 'GET' && headers.accept?.includes('text/event-stream')
      ? 'sse_connection'
      : 'http_request'
  }
}

/** The message of a request that was refused after its body had been read. */
function bufferedMessage(exchange: Exchange): JsonRpcMessage | undefined {
  const value = bufferedJson(exchange)
  return isMessage(value) ? value : undefined
}

/**
 * The messages of a batch (JSON-RPC 2.0, section 6), which servers of HTTP+SSE may read. What is none, or cannot be
 * read, is one that is not known; so are all beyond the limit together.
 */
function batchOf(exchange: Exchange): readonly (JsonRpcMessage | undefined)[] {
  const value = bufferedJson(exchange)
  if (!Array.isArray(value) || value.length === 0) return [undefined]
  const messages = value.slice(0, MOST_OF_BATCH).map(one => (isMessage(one) ? one : undefined))
  return value.length > MOST_OF_BATCH ? [...messages, undefined] : messages
}

function bufferedJson({ buffered }: Exchange): unknown {
  // Of a repeated member nobody knows which one counts.
  if (!buffered?.length || repeatedMember(buffered.toString('latin1')) !== undefined) return undefined
  try {
    return parseJson(buffered.toString('utf8'))
  } catch {
    return undefined
  }
}
