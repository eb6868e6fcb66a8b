import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { compilePolicy } from '../plugins/egress/policy.ts'
import { createEgressProxy, type EgressProxy } from '../plugins/egress/proxy/egress-proxy.ts'
import { createLog } from '../src/log.ts'
import type { Result } from './result.ts'

const ROUNDS = 7
const BYTES = 1024 * 1024 * 1024
const REQUESTS = 4000
const AT_ONCE = 16
const LISTENERS = 200

/**
 * Traffic through the egress proxy against the same traffic without it, side by side on loopback:
 * a gigabyte through a tunnel, a gigabyte as one plain answer, many small plain requests. Server,
 * proxy and client are processes of their own, as in life. Also what an idle listener takes.
 *
 * The bound is on throughput. Every small plain request is parsed and written anew on the way; how many
 * there are in a second is shown without a bound.
 */
export async function run(): Promise<Result> {
  const origin = await startRole('origin')
  const proxy = await startRole('proxy', String(origin.port))
  const measure = {
    'direct, MB/s': () => download({ origin: origin.port }),
    'through a tunnel, MB/s': () => download({ origin: origin.port, proxy: proxy.port, tunnel: true }),
    'plain HTTP, MB/s': () => download({ origin: origin.port, proxy: proxy.port }),
    'direct, requests/s': () => many(origin.port),
    'plain HTTP, requests/s': () => many(origin.port, proxy.port),
  }
  type Figure = keyof typeof measure
  const figures: Record<Figure, number[]> = {
    'direct, MB/s': [],
    'through a tunnel, MB/s': [],
    'plain HTTP, MB/s': [],
    'direct, requests/s': [],
    'plain HTTP, requests/s': [],
  }
  try {
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [name, take] of Object.entries(measure) as [Figure, () => Promise<number>][]) {
        const value = await take()
        if (round > 0) figures[name].push(value) // the first round warms up
      }
    }
  } finally {
    origin.stop()
    proxy.stop()
  }
  const of = (name: Figure) => median(figures[name])
  const tunnel = of('through a tunnel, MB/s') / of('direct, MB/s')
  const plain = of('plain HTTP, MB/s') / of('direct, MB/s')
  const listenerKb = await measureListeners()
  return {
    name: 'egress',
    conditions: 'origin, proxy and load in a process each; no core pinned; direct and proxied take turns',
    measured: Math.min(...Object.values(figures).map(values => values.length)),
    figures: {
      ...Object.fromEntries((Object.keys(figures) as Figure[]).map(name => [name, of(name)])),
      'tunnel / direct (at least 0.5)': tunnel,
      'plain HTTP / direct (at least 0.5)': plain,
      'requests: plain HTTP / direct': of('plain HTTP, requests/s') / of('direct, requests/s'),
      'an idle listener, KB (at most 100)': listenerKb,
    },
    ok: tunnel >= 0.5 && plain >= 0.5 && listenerKb <= 100,
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

interface Route {
  readonly origin: number
  readonly proxy?: number
  readonly tunnel?: boolean
}

/** Megabytes per second of one big answer. */
async function download({ origin, proxy, tunnel }: Route): Promise<number> {
  const authority = `127.0.0.1:${origin}`
  const socket = connect(proxy ?? origin, '127.0.0.1')
  if (tunnel) {
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`)
    await once(socket, 'data')
  }
  const target = proxy && !tunnel ? `http://${authority}/${BYTES}` : `/${BYTES}`
  let received = 0
  const start = performance.now()
  socket.write(`GET ${target} HTTP/1.1\r\nHost: ${authority}\r\nConnection: close\r\n\r\n`)
  socket.on('data', chunk => {
    received += chunk.length
  })
  await once(socket, 'end')
  socket.end()
  if (received < BYTES) throw new Error(`only ${received} bytes arrived`)
  return received / 2 ** 20 / ((performance.now() - start) / 1000)
}

/** Small requests per second over kept connections. */
async function many(origin: number, proxy?: number): Promise<number> {
  const { Agent } = await import('node:http')
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  const path = proxy ? `http://127.0.0.1:${origin}/2` : '/2'
  let left = REQUESTS
  const one = async () => {
    while (left-- > 0) {
      const outgoing = request({
        agent,
        host: '127.0.0.1',
        port: proxy ?? origin,
        path,
        headers: { Host: `127.0.0.1:${origin}` },
      }).end()
      const [answer] = await once(outgoing, 'response')
      if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`)
      await once(answer.resume(), 'end')
    }
  }
  const start = performance.now()
  await Promise.all(Array.from({ length: AT_ONCE }, one))
  agent.destroy()
  return REQUESTS / ((performance.now() - start) / 1000)
}

/** Kilobytes of resident memory for one more listener that nobody uses. */
async function measureListeners(): Promise<number> {
  const role = await startRole('listeners')
  role.stop()
  return role.port // a number, like a port
}

/** Starts this file as a process of its own; it answers with one number. */
async function startRole(...args: string[]): Promise<{ port: number; stop(): void }> {
  const child = fork(fileURLToPath(import.meta.url), args, { execArgv: ['--expose-gc'] })
  const [port] = (await once(child, 'message')) as [number]
  return { port, stop: () => void child.kill() }
}

function makeProxy(): EgressProxy {
  return createEgressProxy({
    log: createLog({ write: () => undefined, human: false, debug: false }),
  })
}

const open = (proxy: EgressProxy, port: number) =>
  proxy.open({
    workload: 'bench',
    policy: compilePolicy({ network: { outbound: { allow_host: ['127.0.0.1'], allow_port: [port] } } }),
    listen: { host: '127.0.0.1', port: 0 },
  })

async function play(role: string, argument: string | undefined): Promise<number> {
  if (role === 'origin') {
    const block = Buffer.alloc(256 * 1024)
    const server = createServer((incoming, response) => {
      let left = Number(incoming.url?.slice(1))
      response.writeHead(200, { 'Content-Length': left })
      const send = () => {
        while (left > 0) {
          const part = block.subarray(0, Math.min(left, block.length))
          left -= part.length
          if (!response.write(part)) return void response.once('drain', send)
        }
        response.end()
      }
      send()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  const proxy = makeProxy()
  if (role === 'proxy') {
    const { listen } = await open(proxy, Number(argument))
    return 'port' in listen ? listen.port : 0
  }
  for (let i = 0; i < 10; i++) await open(proxy, 1)
  const resident = () => {
    globalThis.gc?.()
    return process.memoryUsage().rss / 1024
  }
  const before = resident()
  for (let i = 0; i < LISTENERS; i++) await open(proxy, 1)
  return Math.max(0, resident() - before) / LISTENERS
}

if (process.send) {
  const [, , role = '', argument] = process.argv
  process.send(await play(role, argument))
}
