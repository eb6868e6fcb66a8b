import type { ChildProcess } from 'node:child_process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openHttpServer, openStdioServer } from './eras-proxies.ts'
import { type LoadOrder, load } from './paced-run.ts'
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

/** What a client of another era than the server's costs, beside one of its own. */
export const run = (): Promise<Result> => withPriority(measure)

const KINDS = { stdio: openStdioServer, HTTP: openHttpServer }
type Kind = keyof typeof KINDS

async function measure(priority: string): Promise<Result> {
  const children: ChildProcess[] = []
  try {
    const [stdio, http] = [await measureKind('stdio', children), await measureKind('HTTP', children)]
    return {
      name: 'eras',
      conditions: `${PACE.callsPerSecond} calls a second in turns of ${PACE.turnMs} ms; the proxies in this process, servers and load in one each; no core pinned; ${priority}`,
      measured: stdio.measured + http.measured,
      figures: { ...stdio.figures, ...http.figures },
      ok: stdio.ok && http.ok,
    }
  } finally {
    for (const child of children) child.kill()
  }
}

/** The four combinations of clients and servers, before servers of one kind. */
async function measureKind(
  kind: Kind,
  children: ChildProcess[],
): Promise<Pick<Result, 'measured' | 'figures' | 'ok'>> {
  const open = KINDS[kind]
  const [legacy, stateless] = await Promise.all([open('legacy', children), open('stateless', children)])
  try {
    const targets = {
      'legacy client, legacy': await legacyClient(legacy.url),
      'newer client, legacy': modernClient(legacy.url),
      'newer client, stateless': modernClient(stateless.url),
      'legacy client, stateless': await legacyClient(stateless.url),
    }
    for (const target of Object.values(targets)) await assertCalled(target)
    const loads = await load({ targets: Object.values(targets), pid: process.pid, ...PACE }, children)
    const of = new Map(Object.keys(targets).map((name, i) => [name, loads[i]]))
    const p50 = (name: keyof typeof targets) => of.get(name)?.p50 ?? Number.NaN
    const toLegacy = p50('newer client, legacy') - p50('legacy client, legacy')
    const toStateless = p50('legacy client, stateless') - p50('newer client, stateless')
    const toOwn = p50('newer client, stateless') - p50('legacy client, legacy')
    const server = kind === 'stdio' ? 'server' : 'HTTP server'
    const held = kind === 'stdio' ? await heldByClients(legacy.url) : undefined
    return {
      measured: loads.reduce((sum, { total }) => sum + total, 0),
      figures: {
        ...Object.fromEntries(
          [...of].map(([name, one]) => [`ms p50 of a call, ${name} ${server}`, one?.p50 ?? Number.NaN]),
        ),
        ...Object.fromEntries(
          [...of].map(([name, one]) => [
            `ms of CPU for a call, ${name} ${server}`,
            one?.cpu.toFixed(3) ?? '',
          ]),
        ),
        [`ms p50 that the newer era adds where nothing is translated${kind === 'stdio' ? '' : ', HTTP server'} (nothing: at most ${MOST_OWN_P50})`]:
          toOwn.toFixed(3),
        [`ms p50 that a newer client adds before a legacy ${server} (at most ${MOST_P50})`]:
          toLegacy.toFixed(3),
        [`ms p50 that a legacy client adds before a stateless ${server} (at most ${MOST_P50})`]:
          toStateless.toFixed(3),
        ...(held === undefined
          ? {}
          : {
              [`kB of heap that each of ${CLIENTS} newer clients holds before a legacy server (at most ${MOST_KB})`]:
                held,
            }),
      },
      ok: toOwn <= MOST_OWN_P50 && toLegacy <= MOST_P50 && toStateless <= MOST_P50 && (held ?? 0) <= MOST_KB,
    }
  } finally {
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
