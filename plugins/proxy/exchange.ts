import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Exchange } from '../../src/contracts/pipeline.ts'
import { isMessage, type JsonRpcMessage } from '../../src/net/json-rpc.ts'
import { type CheckedBody, checkBody } from './check-body.ts'
import { isPlainText } from './plain-text.ts'
import { type ReadRules, readBody, SMALL_BODY_BYTES } from './request-body.ts'
import { ClientGone } from './request-refusal.ts'

/** What the exchanges of one proxy share. */
export interface ExchangeParts extends ReadRules {
  respond(exchange: Exchange, text: string): void
}

/** Makes the exchange of one request. Nothing is read, parsed or listened to before somebody asks for it. */
export const createExchange = (
  request: IncomingMessage,
  response: ServerResponse,
  parts: ExchangeParts,
): Exchange => new LazyExchange(request, response, parts)

/** From here on the message is what the server gets: changes of body, URL and headers of the message fail. */
export function sealExchange(exchange: Exchange): void {
  if (exchange instanceof LazyExchange) exchange.seal()
}

/**
 * Drops the body once the response is closed and its listeners have run. For an exchange that is kept longer, because its
 * credentials are used again.
 */
export function dropBodyAtEnd(exchange: Exchange): void {
  if (!(exchange instanceof LazyExchange)) return
  const { response } = exchange
  const drop = () => setImmediate(() => exchange.dropBody())
  if (response.closed) drop()
  else response.once('close', drop)
}

/**
 * Forgets what was read from the body, which takes up to 20 times as much memory as its bytes. For an exchange whose
 * message is on its way; whoever asks for the message later has it read again.
 */
export function forgetMessage(exchange: Exchange): void {
  if (exchange instanceof LazyExchange) exchange.forgetMessage()
}

/** Headers that say how the body is read, or that a server may go by in its place (MCP 2026-07-28). */
const OF_THE_MESSAGE = /^(?:mcp-|content-|transfer-encoding$)/i

/**
 * A class, because one is made per request: V8 gives an object literal with getters a shape of its own, which
 * lives until the next full collection together with all that the getters close over.
 */
class LazyExchange implements Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Declared only: most exchanges have none, and need no room for it. */
  declare outer?: Exchange
  decision: Exchange['decision']
  onRefused: Exchange['onRefused']
  followCall: Exchange['followCall']
  deadline: Exchange['deadline']
  sign: Exchange['sign']
  readonly #parts: ExchangeParts
  #url: string
  #isSealed = false
  #isDropped = false
  #ownHeaders: Map<string, string | undefined> | undefined
  #abort: AbortController | undefined
  #reading: Promise<Buffer> | undefined
  #buffered: Buffer | undefined
  #checked: CheckedBody | 'not text' | undefined

  constructor(request: IncomingMessage, response: ServerResponse, parts: ExchangeParts) {
    this.request = request
    this.response = response
    this.#url = request.url ?? '/'
    this.#parts = parts
  }

  get url(): string {
    return this.#url
  }

  set url(url: string) {
    this.#assertOpen('the URL')
    this.#url = url
  }

  seal(): void {
    this.#isSealed = true
  }

  forgetMessage(): void {
    this.#checked = undefined
  }

  /** Reading the body afterwards fails with `ClientGone`. */
  dropBody(): void {
    this.#buffered = undefined
    this.#checked = undefined
    this.#reading = undefined
    this.#isDropped = true
    // The listeners of `readBody` hold what they have read.
    for (const event of ['data', 'end', 'close']) this.request.removeAllListeners(event)
  }

  #assertOpen(what: string): void {
    if (this.#isSealed)
      throw new Error(`a middleware has changed ${what} after the stage that judges the message`)
  }

  get signal(): AbortSignal {
    if (!this.#abort) {
      const { response } = this
      const abort = new AbortController()
      this.#abort = abort
      const gone = () => {
        if (!response.writableFinished) abort.abort()
      }
      if (response.destroyed) gone()
      else response.once('close', gone)
    }
    return this.#abort.signal
  }

  get buffered(): Buffer | undefined {
    return this.#buffered
  }

  async body(): Promise<Buffer> {
    if (this.#buffered) return this.#buffered
    if (this.#isDropped) throw new ClientGone()
    this.#reading ??= readBody(this, this.#parts)
    const body = await this.#reading
    this.#buffered ??= body
    this.#reading = undefined
    return this.#buffered
  }

  async rawText(): Promise<string | undefined> {
    const body = this.#buffered ?? (await this.body())
    const checked = this.#check(body)
    // Most that ask for the text do not ask for the message, and the text may wait for the server.
    if (body.length > SMALL_BODY_BYTES && checked !== 'not text') this.#checked = { text: checked.text }
    return checked === 'not text' ? undefined : checked.text
  }

  async message(): Promise<JsonRpcMessage | undefined> {
    const body = this.#buffered ?? (await this.body())
    if (typeof this.#checked === 'object' && !('value' in this.#checked)) this.#checked = undefined
    const checked = this.#check(body)
    return checked !== 'not text' && isMessage(checked.value) ? checked.value : undefined
  }

  #check(body: Buffer): CheckedBody | 'not text' {
    this.#checked ??= isPlainText(this.request, body) ? checkBody(body) : 'not text'
    return this.#checked
  }

  get ownHeaders(): ReadonlyMap<string, string | undefined> | undefined {
    return this.#ownHeaders
  }

  setHeader(name: string, value: string | undefined): void {
    if (OF_THE_MESSAGE.test(name)) this.#assertOpen(`the header ${name}`)
    this.#ownHeaders ??= new Map()
    this.#ownHeaders.set(name, value)
  }

  respond(text: string): void {
    this.#parts.respond(this, text)
  }

  replaceBody(body: Buffer): void {
    this.#assertOpen('the body')
    this.#buffered = body
    this.#checked = undefined
  }
}
