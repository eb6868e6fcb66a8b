import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createAvailability } from '../plugins/proxy/availability.ts'
import { createBridge } from '../plugins/proxy/bridge/index.ts'
import { createExchange } from '../plugins/proxy/exchange.ts'
import { respond } from '../plugins/proxy/respond.ts'
import { sendRefusal } from '../plugins/proxy/send-refusal.ts'
import type { Exit } from '../src/contracts/runtime.ts'
import { createLog } from '../src/log.ts'
import { here, type LoadOrder, load } from './paced-run.ts'
import { withPriority } from './priority.ts'
import type { Result } from './result.ts'

const PACE = { callsPerSecond: 500, turnMs: 250, turns: 40, warmUpTurns: 12 }
/** What a cell of two eras may add to one of the server's own era, in milliseconds. */
const MOST_P50 = 0.3
/** What the newer era may add to the one of sessions where nothing is translated: what measuring cannot tell from 0. */
const MOST_OWN_P50 = 0.1
const CLIENTS = 1000
/** What one client of the newer era may hold before an older server, in kB. */
const MOST_KB = 20

const PARAMS = { name: 'echo', arguments: { message: 'x'.repeat(930) } }
const rpc = (method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

const HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
const MODERN = {
  ...HEADERS,
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'echo',
}

const modernCall = (client: string) =>
  rpc('tools/call', {
    ...PARAMS,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: client, version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  })

type Target = LoadOrder['targets'][number]

/** What a client of another era than the stdio server's costs, beside one of its own. */
export const run = (): Promise<Result> => withPriority(measure)

async function measure(priority: string): Promise<Result> {
  const children: ChildProcess[] = []
  const [legacy, stateless] = await Promise.all([
    openServer('legacy', children),
    openServer('stateless', children),
  ])
  try {
    const targets = {
      'legacy client, legacy server': await legacyClient(legacy.url),
      'newer client, legacy server': modernClient(legacy.url),
      'newer client, stateless server': modernClient(stateless.url),
      'legacy client, stateless server': await legacyClient(stateless.url),
    }
    for (const target of Object.values(targets)) await assertCalled(target)
    const loads = await load({ targets: Object.values(targets), pid: process.pid, ...PACE }, children)
    const of = new Map(Object.keys(targets).map((name, i) => [name, loads[i]]))
    const p50 = (name: keyof typeof targets) => of.get(name)?.p50 ?? Number.NaN
    const [toLegacy, toStateless] = [
      p50('newer client, legacy server') - p50('legacy client, legacy server'),
      p50('legacy client, stateless server') - p50('newer client, stateless server'),
    ]
    const toOwn = p50('newer client, stateless server') - p50('legacy client, legacy server')
    const held = await heldByClients(legacy.url)
    return {
      name: 'eras',
      conditions: `${PACE.callsPerSecond} calls a second in turns of ${PACE.turnMs} ms; the bridges in this process, servers and load in one each; no core pinned; ${priority}`,
      measured: loads.reduce((sum, { total }) => sum + total, 0),
      figures: {
        ...Object.fromEntries(
          [...of].map(([name, one]) => [`ms p50 of a call, ${name}`, one?.p50 ?? Number.NaN]),
        ),
        ...Object.fromEntries(
          [...of].map(([name, one]) => [`ms of CPU for a call, ${name}`, one?.cpu.toFixed(3) ?? '']),
        ),
        [`ms p50 that the newer era adds where nothing is translated (nothing: at most ${MOST_OWN_P50})`]:
          toOwn.toFixed(3),
        [`ms p50 that a newer client adds before a legacy server (at most ${MOST_P50})`]: toLegacy.toFixed(3),
        [`ms p50 that a legacy client adds before a stateless server (at most ${MOST_P50})`]:
          toStateless.toFixed(3),
        [`kB of heap that each of ${CLIENTS} newer clients holds before a legacy server (at most ${MOST_KB})`]:
          held,
      },
      ok: toOwn <= MOST_OWN_P50 && toLegacy <= MOST_P50 && toStateless <= MOST_P50 && held <= MOST_KB,
    }
  } finally {
    for (const child of children) child.kill()
    for (const { close } of [legacy, stateless]) await close()
  }
}

const modernClient = (url: string): Target => ({ url, headers: MODERN, body: modernCall('bench') })

async function legacyClient(url: string): Promise<Target> {
  const clientInfo = { name: 'bench', version: '1' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  const response = await fetch(url, { method: 'POST', headers: HEADERS, body: rpc('initialize', params) })
  if (!response.ok) throw new Error(`initialize: ${response.status} ${await response.text()}`)
  await response.text()
  const session = response.headers.get('mcp-session-id') ?? ''
  const headers = { ...HEADERS, 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }
  await fetch(url, {
    method: 'POST',
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
  })
  return { url, headers, body: rpc('tools/call', PARAMS) }
}

/** Fails unless a call gets the result of the server, and not an error with status 200. */
async function assertCalled({ url, headers = {}, body = '' }: Target): Promise<void> {
  const text = await (await fetch(url, { method: 'POST', headers, body })).text()
  if (!text.includes('x'.repeat(950))) throw new Error(`${url} responded ${text}`)
}

/** Heap after a collection that each of many clients has left, in kB. */
async function heldByClients(url: string): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const before = await settled(collect)
  for (let i = 0; i < CLIENTS; i++) {
    const response = await fetch(url, { method: 'POST', headers: MODERN, body: modernCall(`bench ${i}`) })
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
    await response.text()
  }
  return ((await settled(collect)) - before) / 1000 / CLIENTS
}

async function settled(collect: () => void): Promise<number> {
  for (let i = 0; i < 3; i++) {
    await new Promise(resolve => setTimeout(resolve, 100))
    collect()
  }
  return process.memoryUsage().heapUsed
}

/** A stdio server behind a bridge of its own. */
async function openServer(era: 'legacy' | 'stateless', children: ChildProcess[]) {
  const child = spawn(process.execPath, [here('eras-server.ts'), era])
  children.push(child)
  const log = createLog({ write: line => void process.stderr.write(line), human: true, debug: false })
  const bridge = createBridge({
    availability: createAvailability({ waitMs: 5000, maxWaiting: 2048 }),
    config: { schema_version: 'v0.1.0', name: `bench-${era}`, transport: 'stdio', port: 0 },
    log,
    sessionTtlMs: 60_000,
    publicBase: () => '',
    // The load reads no event streams, which a call gets whose response does not come soon.
    limits: { requestTimeoutMs: 60_000, holdHeadMs: 60_000 },
  })
  const server = createServer((request, response) => {
    const exchange = createExchange(request, response, { refuseBatches: true, maxBytes: 2 ** 23, respond })
    bridge.handle(exchange).catch(error => sendRefusal(exchange, error, log))
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const exit = once(child, 'exit').then((): Exit => ({}))
  await bridge.connect({ stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, exit, detach() {} })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async close() {
      await bridge.close()
      server.closeAllConnections()
      server.close()
    },
  }
}
