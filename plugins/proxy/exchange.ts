import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Exchange } from '../../src/contracts/pipeline.ts'
import { parseRaw } from '../../src/lib/raw-json.ts'
import { isMessage, type JsonRpcMessage } from '../../src/net/json-rpc.ts'
import { assertNoRepeatedMember } from './repeated-member.ts'
import { type BodyRules, readBody } from './request-body.ts'

/** Makes the exchange of one request. Nothing is read, parsed or listened to before somebody asks for it. */
export const createExchange = (
  request: IncomingMessage,
  response: ServerResponse,
  rules: BodyRules,
): Exchange => new LazyExchange(request, response, rules)

/**
 * A class, because one is made per request: V8 gives an object literal with getters a shape of its own, which
 * lives until the next full collection together with all that the getters close over.
 */
class LazyExchange implements Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  url: string
  onRefused: Exchange['onRefused']
  readonly #rules: BodyRules
  #ownHeaders: Map<string, string | undefined> | undefined
  #abort: AbortController | undefined
  #reading: Promise<Buffer> | undefined
  #buffered: Buffer | undefined
  #checked: { text: string | undefined } | undefined
  #parsed: { message: JsonRpcMessage | undefined } | undefined

  constructor(request: IncomingMessage, response: ServerResponse, rules: BodyRules) {
    this.request = request
    this.response = response
    this.url = request.url ?? '/'
    this.#rules = rules
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
    this.#reading ??= readBody(this.request, this.#rules)
    const body = await this.#reading
    this.#buffered ??= body
    return this.#buffered
  }

  async rawText(): Promise<string | undefined> {
    const body = await this.body()
    this.#checked ??= { text: toCheckedText(body) }
    return this.#checked.text
  }

  async message(): Promise<JsonRpcMessage | undefined> {
    const text = await this.rawText()
    this.#parsed ??= { message: text === undefined ? undefined : parseMessage(text) }
    return this.#parsed.message
  }

  get ownHeaders(): ReadonlyMap<string, string | undefined> | undefined {
    return this.#ownHeaders
  }

  setHeader(name: string, value: string | undefined): void {
    this.#ownHeaders ??= new Map()
    this.#ownHeaders.set(name, value)
  }

  replaceBody(body: Buffer): void {
    this.#buffered = body
    this.#checked = undefined
    this.#parsed = undefined
  }
}

function toCheckedText(body: Buffer): string | undefined {
  if (!isUtf8(body)) return undefined
  const text = body.toString('latin1')
  assertNoRepeatedMember(text)
  return text
}

function parseMessage(text: string): JsonRpcMessage | undefined {
  try {
    const value = parseRaw(text)
    return isMessage(value) ? value : undefined
  } catch {
    return undefined
  }
}
