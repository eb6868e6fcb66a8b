import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { Exchange } from '../../src/contracts/pipeline.ts'
import { INVALID_REQUEST } from '../../src/net/rpc-error-codes.ts'
import type { FairShare } from './fair-share.ts'
import { ClientGone, rpcRefusal, unavailable } from './request-refusal.ts'
import { holderOf } from './session-owner.ts'

/** Up to this many announced bytes a body is gathered before it is sent, so that it can be sent again. */
export const SMALL_BODY_BYTES = 64 * 1024

const tooLarge = ({ maxBytes }: BodyRules) =>
  rpcRefusal(413, INVALID_REQUEST, `The request body is larger than ${maxBytes} bytes`)
const tooManyBodies = () =>
  unavailable(
    'Too many long requests are in flight: one caller may hold at most as much as is still free. Try again later',
  )
const noBatches = () =>
  rpcRefusal(400, INVALID_REQUEST, 'JSON-RPC batches are refused where added plugins judge messages')

/** The announced length; undefined when the body has none (chunked, or no body at all). */
export function announcedLength(request: IncomingMessage): number | undefined {
  const header = request.headers['content-length']
  return header === undefined ? undefined : Number(header)
}

export const hasBody = (request: IncomingMessage): boolean =>
  request.headers['transfer-encoding'] !== undefined || (announcedLength(request) ?? 0) > 0

/** Refuses a body that says itself that it is too large. */
export function assertAnnouncedLength(request: IncomingMessage, rules: BodyRules): void {
  if ((announcedLength(request) ?? 0) > rules.maxBytes) throw tooLarge(rules)
}

/** White space, and the bytes of a mark of UTF-8 (U+FEFF), which some servers ignore. */
const SKIPPED = new Set([0x20, 0x0a, 0x0d, 0x09, 0xef, 0xbb, 0xbf])

/** Whether the first character that is not JSON white space opens an array; undefined when there is none yet. */
function opensArray(chunk: Buffer): boolean | undefined {
  for (const byte of chunk) {
    if (byte === 0x5b) return true
    if (!SKIPPED.has(byte)) return false
  }
  return undefined
}

export interface BodyRules {
  readonly maxBytes: number
  /** Arrays are refused, which are JSON-RPC batches (MCP 2025-03-26). */
  readonly refuseBatches: boolean
}

/** Checks chunks as they come by: the cap, and that the first character opens no array. */
function createWatch(rules: BodyRules): (chunk: Buffer) => Error | undefined {
  let total = 0
  let undecided = rules.refuseBatches
  return chunk => {
    total += chunk.length
    if (total > rules.maxBytes) return tooLarge(rules)
    if (!undecided) return undefined
    const batch = opensArray(chunk)
    if (batch) return noBatches()
    undecided = batch === undefined
    return undefined
  }
}

export interface ReadRules extends BodyRules {
  /**
   * Limits the bytes of bodies that are held at a time, without the first `SMALL_BODY_BYTES` of each; undefined: no limit.
   */
  readonly bodies?: FairShare | undefined
  readonly trust_proxy_headers?: boolean | undefined
}

/** What is read of an exchange. */
type Reading = Pick<Exchange, 'request' | 'response' | 'caller'>

/** Counts the bytes of a long body until the response is closed. Returns why they cannot be held. */
function createHold(exchange: Reading, { bodies, trust_proxy_headers = false }: ReadRules) {
  const holder = holderOf(exchange, { trust_proxy_headers })
  let held = 0
  exchange.response.once('close', () => bodies?.give(holder, held))
  return (bytes: number): Error | undefined => {
    if (!bodies || exchange.response.closed) return undefined
    if (!bodies.take(holder, bytes)) return tooManyBodies()
    held += bytes
    return undefined
  }
}

/** Reads the whole body. What a refused client still sends is discarded so that it can read the response. */
export function readBody(exchange: Reading, rules: ReadRules): Promise<Buffer> {
  const { request } = exchange
  return new Promise((resolve, reject) => {
    if (request.destroyed && !request.readableEnded) return reject(new ClientGone())
    const watch = createWatch(rules)
    let chunks: Buffer[] | undefined = []
    let left = SMALL_BODY_BYTES
    let hold: ReturnType<typeof createHold> | undefined
    request.on('data', (chunk: Buffer) => {
      if (!chunks) return
      chunks.push(chunk)
      let error = watch(chunk)
      left -= chunk.length
      if (left < 0 && !error) {
        hold ??= createHold(exchange, rules)
        error = hold(-left)
        left = 0
      }
      if (!error) return
      chunks = undefined
      reject(error)
    })
    request.on('end', () => {
      if (chunks) resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))
      // The listeners live as long as the request.
      chunks = undefined
    })
    // A broken upload says so by 'close' alone.
    request.on('close', () => {
      if (!request.complete) reject(new ClientGone())
    })
  })
}

/** The body as a stream with the same checks: a chunk is asked for when the one before has been taken. */
export function streamBody(request: IncomingMessage, rules: BodyRules): Readable {
  const watch = createWatch(rules)
  async function* checked() {
    // The socket has to stay open after a refusal, which is sent on it.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      const error = watch(chunk)
      if (error) throw error
      yield chunk
    }
    if (!request.complete) throw new ClientGone()
  }
  return Readable.from(checked(), { objectMode: false })
}
