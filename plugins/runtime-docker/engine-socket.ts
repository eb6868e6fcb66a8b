import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { connect, type Socket } from 'node:net'

/** The most characters that are read of a response. */
const LONGEST = 65_536

/** The engine's response: a connection of raw bytes after 101, otherwise a response whose body is not read yet. */
interface Opened {
  readonly response: IncomingMessage
  /** Present after 101, with the bytes that have come already. */
  readonly upgraded: { readonly socket: Socket; readonly head: Buffer } | undefined
  close(): void
}

/**
 * Sends a request without a body to the Docker Engine API at a Unix socket. Rejects when no response has come within
 * the time. The path has no version, so the engine takes its newest.
 */
export function call(
  socketPath: string,
  method: 'GET' | 'POST',
  path: string,
  options: { timeoutMs: number; upgrade?: boolean },
): Promise<Opened> {
  const { promise, resolve, reject } = Promise.withResolvers<Opened>()
  const upgrade = { connection: 'Upgrade', upgrade: 'tcp' }
  const sent: ClientRequest = request({
    method,
    path,
    headers: { host: 'localhost', 'content-length': 0, ...(options.upgrade ? upgrade : {}) },
    createConnection: () => connect(socketPath),
  })
  const timer = setTimeout(() => sent.destroy(new Error('it took too long to respond')), options.timeoutMs)
  const close = () => sent.destroy()
  sent.on('response', response => resolve({ response, upgraded: undefined, close }))
  sent.on('upgrade', (response, socket, head) => {
    socket.on('error', () => undefined) // it closes then
    const upgraded = { socket: socket as Socket, head }
    resolve({ response, upgraded, close: () => socket.destroy() })
  })
  sent.on('error', reject)
  sent.end()
  return promise.finally(() => clearTimeout(timer))
}

/** The beginning of a body. */
export async function readBody(response: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of response.setEncoding('utf8')) {
    body += chunk
    if (body.length > LONGEST) break
  }
  return body.slice(0, LONGEST)
}
