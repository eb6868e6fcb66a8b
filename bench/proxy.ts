import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { cpus } from 'node:os'
import { createInterface, type Interface } from 'node:readline'
import type { Result } from './result.ts'

interface Program {
  readonly child: ChildProcess
  line(): Promise<string>
}

const here = (file: string) => new URL(file, import.meta.url).pathname

/** The proxy has one core for itself; the load and the server share the other, with and without the proxy. */
const PROXY_CORE = '0'
const OTHER_CORE = '1'
const pins = cpus().length > 1 && spawnSync('taskset', ['-c', '0', 'true']).status === 0

function start(file: string, args: readonly string[] = [], flags: readonly string[] = []): Program {
  const core = file === 'proxy-process.ts' ? PROXY_CORE : OTHER_CORE
  const [program = process.execPath, ...prefix] = pins ? ['taskset', '-c', core, process.execPath] : []
  const child = spawn(program, [...prefix, ...flags, here(file), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = (createInterface({ input: child.stdout }) as Interface)[Symbol.asyncIterator]()
  return {
    child,
    line: async () => {
      const { value, done } = await lines.next()
      if (done) throw new Error(`${file} ended before it said anything`)
      return value
    },
  }
}

interface Load {
  readonly requestsPerSecond: number
  /** Milliseconds. */
  readonly p50: number
  readonly failed: number
  readonly total: number
}

async function load(origin: string, connections: number, seconds: number): Promise<Load> {
  const { line } = start('proxy-load.ts', [`${origin}/mcp`, String(connections), String(seconds)])
  return JSON.parse(await line())
}

/** As every client does first. The proxy then knows the era of the server, and need not read later requests. */
async function initialize(origin: string): Promise<void> {
  const clientInfo = { name: 'bench', version: '1' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  const response = await fetch(`${origin}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
  })
  await response.text()
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

/**
 * The transparent proxy against the same server direct: throughput at 32 connections, latency at one, and
 * what a hundred idle proxies cost. Direct and proxied take turns, so that both meet the same machine.
 */
export async function run(): Promise<Result> {
  const programs: Program[] = []
  const begin = (...args: Parameters<typeof start>) => {
    const program = start(...args)
    programs.push(program)
    return program
  }
  const memory = async (target: string, count: number) => {
    const program = begin('proxy-process.ts', [target, String(count)], ['--expose-gc'])
    await program.line()
    program.child.stdin?.write('\n')
    return Number(await program.line())
  }
  try {
    const direct = `http://127.0.0.1:${await begin('proxy-backend.ts').line()}`
    const proxied = `http://127.0.0.1:${await begin('proxy-process.ts', [direct]).line()}`
    const origins = { direct, proxied }
    const loads = { direct: [] as Load[], proxied: [] as Load[] }
    const singles = { direct: [] as Load[], proxied: [] as Load[] }
    await initialize(proxied)
    for (const origin of [direct, proxied, proxied]) await load(origin, 32, 2)
    for (let round = 0; round < 5; round++) {
      for (const kind of ['direct', 'proxied'] as const) {
        loads[kind].push(await load(origins[kind], 32, 3))
        singles[kind].push(await load(origins[kind], 1, 1))
      }
    }
    const perProxy = ((await memory(direct, 101)) - (await memory(direct, 1))) / 100 / 1024 / 1024

    const rate = (all: Load[]) => median(all.map(one => one.requestsPerSecond))
    const latency = (all: Load[]) => median(all.map(one => one.p50))
    const ratio = rate(loads.proxied) / rate(loads.direct)
    const added = latency(singles.proxied) - latency(singles.direct)
    const failed = [loads, singles].flatMap(({ direct, proxied }) => [...direct, ...proxied])
    const lost = failed.reduce((sum, one) => sum + one.failed, 0)
    return {
      name: 'transparent proxy, 1 KB JSON',
      conditions: pins
        ? `proxy on core ${PROXY_CORE}; load and server share core ${OTHER_CORE}, also without the proxy`
        : 'no core pinned: one core, or no taskset(1)',
      measured: Math.min(...failed.map(one => one.total)),
      figures: {
        'requests/s direct, 32 connections': rate(loads.direct),
        'requests/s proxied': rate(loads.proxied),
        [`% of direct (at least 55)${pins ? '' : ', without a core of its own'}`]: ratio * 100,
        'ms p50 direct, 1 connection': latency(singles.direct),
        'ms p50 added (at most 0.3)': added,
        'failed requests (0)': lost,
        'MiB for one more idle proxy (at most 0.5)': perProxy,
      },
      ok: ratio >= 0.55 && added <= 0.3 && lost === 0 && perProxy <= 0.5,
    }
  } finally {
    for (const { child } of programs) child.kill()
  }
}
