import { performServerHandshake, type ServerHttp2Stream } from 'node:http2'
import { connect } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { messageOf } from '../../../src/errors.ts'
import { createLog, type Level } from '../../../src/log.ts'
import { createOwnAddresses } from '../../../src/net/own-addresses.ts'
import type { Resolve } from '../decision.ts'
import { compilePolicy } from '../policy.ts'
import { createEgressProxy, type EgressListener } from '../proxy/egress-proxy.ts'
import { createResolver } from '../resolver.ts'
import { findGateways } from './find-gateways.ts'
import { HEARTBEAT_MS, type HelperEvent, type ListenerRequest, WINDOW_BYTES } from './helper-protocol.ts'
import { toSocket } from './to-socket.ts'

/** A host that does not read misses events once this much waits for it. */
const MOST_PENDING_BYTES = 1024 * 1024

/**
 * Runs the egress proxy of all workloads of a remote engine, controlled by the host over two streams. It
 * keeps no state: what it opened closes with the streams.
 */
export async function serveHost(
  input: Readable,
  output: Writable,
  options: { onEnd: () => void; resolve?: Resolve },
): Promise<void> {
  const resolve = options.resolve ?? createResolver()
  const listeners = new Map<string, { listener: EgressListener; request: ListenerRequest }>()
  const subscribers = new Set<ServerHttp2Stream>()
  const ownAddresses = createOwnAddresses()
  const gateways = findGateways(resolve)
  const tell = (event: HelperEvent) => {
    for (const stream of subscribers) {
      if (stream.writableLength < MOST_PENDING_BYTES) stream.write(`${JSON.stringify(event)}\n`)
    }
  }
  const proxy = createEgressProxy({
    resolve,
    log: createLog({ human: false, debug: false, write: line => tell(toEvent(line)) }),
    ownAddresses: () =>
      new Set([...ownAddresses(), ...[...listeners.values()].flatMap(({ request }) => request.forbidden)]),
    onDecision: decision => tell({ decision }),
  })

  async function put(id: string, request: ListenerRequest): Promise<void> {
    const { profile, options, workload, listen, peer } = request
    const known = [...(await gateways), ...(options.gateways ?? [])]
    const policy = compilePolicy(profile, { ...options, gateways: known })
    const open = listeners.get(id)
    const listener = open?.listener ?? (await proxy.open({ workload, policy, listen, peer }))
    listeners.set(id, { listener, request })
    await listener.update(policy)
  }

  async function remove(id: string): Promise<void> {
    const open = listeners.get(id)
    listeners.delete(id)
    await open?.listener.close()
  }

  /** Connects to instances whose listener is open, and to nothing else. */
  function connectTo(stream: ServerHttp2Stream, authority: string): void {
    const [, host = '', port = ''] = /^([\d.]+):(\d+)$/.exec(authority) ?? []
    if (![...listeners.values()].some(({ request }) => request.peer === host))
      return void refuse(stream, 403, '')
    const socket = connect({ host, port: Number(port), allowHalfOpen: true, noDelay: true })
    socket.once('error', error => {
      if (stream.headersSent) stream.destroy()
      else refuse(stream, 502, messageOf(error))
    })
    stream.once('close', () => socket.destroy())
    socket.once('connect', () => {
      if (stream.destroyed) return void socket.destroy()
      stream.respond({ ':status': 200 })
      stream.pipe(socket)
      socket.pipe(stream)
    })
  }

  async function answer(stream: ServerHttp2Stream, method: string, path: string): Promise<void> {
    const id = /^\/listeners\/(.+)$/.exec(path)?.[1]
    if (path === '/events') {
      subscribers.add(stream)
      stream.once('close', () => subscribers.delete(stream))
      return stream.respond({ ':status': 200 })
    }
    if (id === undefined) return refuse(stream, 404, 'there is no such thing')
    if (method === 'DELETE') await remove(id)
    else await put(id, (await json(stream)) as ListenerRequest)
    stream.respond({ ':status': 204 }, { endStream: true })
  }

  const session = performServerHandshake(await toSocket({ readable: input, writable: output }), {
    settings: { initialWindowSize: WINDOW_BYTES },
  })
  session.setLocalWindowSize(2 * WINDOW_BYTES)
  session.on('stream', (stream, headers) => {
    const { ':method': method = '', ':path': path = '', ':authority': authority = '' } = headers
    stream.on('error', () => stream.destroy())
    if (method === 'CONNECT') return connectTo(stream, authority)
    answer(stream, method, path).catch(error => refuse(stream, 409, messageOf(error)))
  })
  let silence = setTimeout(() => session.destroy(), 3 * HEARTBEAT_MS)
  session.on('ping', () => {
    clearTimeout(silence)
    silence = setTimeout(() => session.destroy(), 3 * HEARTBEAT_MS)
  })
  session.on('error', () => session.destroy())
  session.once('close', () => {
    clearTimeout(silence)
    void proxy.close().then(options.onEnd)
  })
}

function refuse(stream: ServerHttp2Stream, status: number, text: string): void {
  if (stream.destroyed || stream.headersSent) return void stream.destroy()
  stream.respond({ ':status': status })
  stream.end(text)
}

function toEvent(text: string): HelperEvent {
  const { time: _, level, msg, ...fields } = JSON.parse(text) as Record<string, string>
  return { line: { level: String(level).toLowerCase() as Level, text: String(msg), fields } }
}
