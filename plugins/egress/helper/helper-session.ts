import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type OutgoingHttpHeaders,
} from 'node:http2'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { StringDecoder } from 'node:string_decoder'
import { HEARTBEAT_MS, type HelperEvent, WINDOW_BYTES } from './helper-protocol.ts'
import { toSocket } from './to-socket.ts'

/** The host's connection to a program in a helper. */
export interface HelperSession {
  /** Fails with the helper's message when it does not succeed. */
  call(method: 'PUT' | 'DELETE', path: string, body?: unknown): Promise<void>
  /** Connects to a port of an instance whose listener is open. */
  connect(host: string, port: number): Promise<Duplex>
  /** Resolves when the session has ended, for any reason. Never rejects. */
  readonly ended: Promise<void>
  end(): void
}

/** Opens a session with the program behind `streams`. Resolves at its first response. */
export async function openSession(
  streams: Duplex,
  onEvent: (event: HelperEvent) => void,
): Promise<HelperSession> {
  const socket = await toSocket({ readable: streams, writable: streams })
  const session = connect('http://helper', {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
  })
  let problem: Error | undefined
  const ended = new Promise<void>(resolve => session.once('close', resolve))
  session.on('error', error => {
    problem = error
  })
  session.once('connect', () => session.setLocalWindowSize(2 * WINDOW_BYTES))
  const beat = setInterval(() => keepAlive(session), HEARTBEAT_MS).unref()
  void ended.then(() => {
    clearInterval(beat)
    streams.destroy()
  })
  socket.once('close', () => session.destroy())

  async function ask(headers: OutgoingHttpHeaders, body?: string): Promise<ClientHttp2Stream> {
    if (session.closed || session.destroyed) throw problem ?? new Error('the helper has ended')
    const stream = session.request(headers, {
      endStream: body === undefined && headers[':method'] !== 'CONNECT',
    })
    const status = await new Promise<number>((resolve, reject) => {
      stream.once('response', found => resolve(found[':status'] ?? 0))
      stream.once('error', reject)
      stream.once('close', () => reject(problem ?? new Error('the helper has ended')))
      if (body !== undefined) stream.end(body)
    })
    stream.on('error', () => stream.destroy())
    if (status < 300) return stream
    throw new Error((await text(stream).catch(() => '')) || `the helper responded with ${status}`)
  }

  const events = await ask({ ':method': 'GET', ':path': '/events' }).catch(error => {
    session.destroy()
    throw error
  })
  readLines(events, line => onEvent(JSON.parse(line) as HelperEvent))
  return {
    ended,
    async call(method, path, body) {
      const stream = await ask(
        { ':method': method, ':path': path },
        body === undefined ? undefined : JSON.stringify(body),
      )
      stream.resume()
    },
    connect: (host, port) => ask({ ':method': 'CONNECT', ':authority': `${host}:${port}` }),
    end: () => session.destroy(),
  }
}

/** Pings the other side, and ends the session without a response within two ping intervals. */
function keepAlive(session: ClientHttp2Session): void {
  if (session.destroyed) return
  const late = setTimeout(() => session.destroy(), 2 * HEARTBEAT_MS).unref()
  session.ping(() => clearTimeout(late))
}

function readLines(stream: ClientHttp2Stream, onLine: (line: string) => void): void {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  stream.on('data', (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  })
}
