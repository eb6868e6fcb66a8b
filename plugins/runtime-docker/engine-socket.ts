import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import * as t from 'typanion'

/** The most characters that are read of a response. */
const LONGEST = 65_536

/** The engine's response: a connection of raw bytes after 101, otherwise a response whose body is not read yet. */
export interface Opened {
  readonly response: IncomingMessage
  /** Present after 101, with the bytes that have come already. */
  readonly upgraded: { readonly socket: Socket; readonly head: Buffer } | undefined
  close(): void
}

/** No response has come within the time. */
export class SlowResponse extends Error {}

/**
 * Sends a request to the Docker Engine API at a Unix socket. Rejects with `SlowResponse` when no response has come within
 * the time. The path has no version, so the engine takes its newest.
 */
export function call(
  socketPath: string,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  options: { timeoutMs: number; upgrade?: boolean; signal?: AbortSignal | undefined; body?: unknown },
): Promise<Opened> {
  const { promise, resolve, reject } = Promise.withResolvers<Opened>()
  const upgrade = { connection: 'Upgrade', upgrade: 'tcp' }
  const body = options.body === undefined ? '' : JSON.stringify(options.body)
  const type = body ? { 'content-type': 'application/json' } : {}
  const sent: ClientRequest = request({
    method,
    path,
    headers: {
      host: 'localhost',
      'content-length': Buffer.byteLength(body),
      ...type,
      ...(options.upgrade ? upgrade : {}),
    },
    ...(options.signal ? { signal: options.signal } : {}),
    createConnection: () => connect(socketPath),
  })
  const timer = setTimeout(
    () => sent.destroy(new SlowResponse('it took too long to respond')),
    options.timeoutMs,
  )
  const close = () => sent.destroy()
  sent.on('response', response => resolve({ response, upgraded: undefined, close }))
  sent.on('upgrade', (response, socket, head) => {
    socket.on('error', () => undefined) // it closes then
    const upgraded = { socket: socket as Socket, head }
    resolve({ response, upgraded, close: () => socket.destroy() })
  })
  sent.on('error', reject)
  sent.end(body)
  return promise.finally(() => clearTimeout(timer))
}

/** The beginning of a body. */
export async function readBody(response: IncomingMessage, longest = LONGEST): Promise<string> {
  let body = ''
  for await (const chunk of response.setEncoding('utf8')) {
    body += chunk
    if (body.length > longest) break
  }
  return body.slice(0, longest)
}

const refusal = t.isObject({ message: t.isString() }, { extra: t.isUnknown() })

/** The words in the body of a response that refuses a request. Undefined when it is no response of the API. */
export function messageIn(body: string): string | undefined {
  try {
    const said: unknown = JSON.parse(body)
    return refusal(said) ? said.message : undefined
  } catch {
    return undefined
  }
}

const made = t.isObject({ Id: t.isString() }, { extra: t.isUnknown() })

/** The id in the body of a response that has made something, as the program prints it. */
export function readId(body: string): string {
  const found: unknown = JSON.parse(body)
  if (!made(found)) throw new Error('the engine did not name what it has made')
  return found.Id
}
