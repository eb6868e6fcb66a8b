import { performServerHandshake, type ServerHttp2Stream } from 'node:http2'
import { connect } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { messageOf } from '../../../src/errors.ts'
import { createLog, type Level } from '../../../src/log.ts'
import { createOwnAddresses } from '../../../src/net/own-addresses.ts'
import type { Resolve } from '../decision.ts'
import { compilePolicy } from '../policy.ts'
import { createEgressProxy, type Door } from '../proxy/egress-proxy.ts'
import { createResolver } from '../resolver.ts'
import { findGateways } from './find-gateways.ts'
import { toSocket } from './to-socket.ts'
import { BEAT_MS, type DoorRequest, type Told, WINDOW } from './wire.ts'

/** More than this waits for a host that does not read: then it is not told everything. */
const MOST_UNTOLD = 1024 * 1024

/**
 * The egress proxy of all workloads of an engine that is elsewhere, run by a host over two streams. What
 * it opens closes with them: it keeps nothing.
 */
export async function serve(
  input: Readable,
  output: Writable,
  options: { onEnd: () => void; resolve?: Resolve },
): Promise<void> {
  const resolve = options.resolve ?? createResolver()
  const doors = new Map<string, { door: Door; request: DoorRequest }>()
  const listeners = new Set<ServerHttp2Stream>()
  const ownAddresses = createOwnAddresses()
  const gateways = findGateways(resolve)
  const tell = (told: Told) => {
    for (const stream of listeners) {
      if (stream.writableLength < MOST_UNTOLD) stream.write(`${JSON.stringify(told)}\n`)
    }
  }
  const proxy = createEgressProxy({
    resolve,
    log: createLog({ human: false, debug: false, write: line => tell(toTold(line)) }),
    ownAddresses: () =>
      new Set([...ownAddresses(), ...[...doors.values()].flatMap(({ request }) => request.forbidden)]),
    onDecision: decision => tell({ decision }),
  })

  async function put(id: string, request: DoorRequest): Promise<void> {
    const { profile, options, workload, listen, peer } = request
    const known = [...(await gateways), ...(options.gateways ?? [])]
    const policy = compilePolicy(profile, { ...options, gateways: known })
    const open = doors.get(id)
    const door = open?.door ?? (await proxy.open({ workload, policy, listen, peer }))
    doors.set(id, { door, request })
    await door.update(policy)
  }

  async function remove(id: string): Promise<void> {
    const open = doors.get(id)
    doors.delete(id)
    await open?.door.close()
  }

  /** Only to who is behind one of the doors. */
  function lead(stream: ServerHttp2Stream, authority: string): void {
    const [, host = '', port = ''] = /^([\d.]+):(\d+)$/.exec(authority) ?? []
    if (![...doors.values()].some(({ request }) => request.peer === host)) return void refuse(stream, 403, '')
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
    const id = /^\/doors\/(.+)$/.exec(path)?.[1]
    if (path === '/told') {
      listeners.add(stream)
      stream.once('close', () => listeners.delete(stream))
      return stream.respond({ ':status': 200 })
    }
    if (id === undefined) return refuse(stream, 404, 'there is no such thing')
    if (method === 'DELETE') await remove(id)
    else await put(id, (await json(stream)) as DoorRequest)
    stream.respond({ ':status': 204 }, { endStream: true })
  }

  const session = performServerHandshake(await toSocket({ readable: input, writable: output }), {
    settings: { initialWindowSize: WINDOW },
  })
  session.setLocalWindowSize(2 * WINDOW)
  session.on('stream', (stream, headers) => {
    const { ':method': method = '', ':path': path = '', ':authority': authority = '' } = headers
    stream.on('error', () => stream.destroy())
    if (method === 'CONNECT') return lead(stream, authority)
    answer(stream, method, path).catch(error => refuse(stream, 409, messageOf(error)))
  })
  let silence = setTimeout(() => session.destroy(), 3 * BEAT_MS)
  session.on('ping', () => {
    clearTimeout(silence)
    silence = setTimeout(() => session.destroy(), 3 * BEAT_MS)
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

function toTold(text: string): Told {
  const { time: _, level, msg, ...fields } = JSON.parse(text) as Record<string, string>
  return { line: { level: String(level).toLowerCase() as Level, text: String(msg), fields } }
}
