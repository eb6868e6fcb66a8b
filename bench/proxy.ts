import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { cpus } from 'node:os'
import { createInterface, type Interface } from 'node:readline'
import { initialize } from './initialize.ts'
import { startOwnSupervisor } from './own-supervisor.ts'
import type { Result } from './result.ts'
import { median, ratios, spread } from './samples.ts'

interface Program {
  readonly child: ChildProcess
  line(): Promise<string>
}

const here = (file: string) => new URL(file, import.meta.url).pathname

/** The proxy has one core for itself; the load and the server share the other, with and without the proxy. */
const PROXY_CORE = '0'
const OTHER_CORE = '1'
const PROXIES = ['proxy-process.ts', 'bare-proxy.ts']
const [LEAST_PERCENT, MOST_ADDED_MS, MOST_MIB] = [65, 0.12, 0.5]
/** The proxies take turns with the server itself, so that all meet the same machine. */
const KINDS = ['direct', 'proxied', 'bare'] as const
const pins = cpus().length > 1 && spawnSync('taskset', ['-c', '0', 'true']).status === 0

function start(file: string, args: readonly string[] = [], flags: readonly string[] = []): Program {
  const core = PROXIES.includes(file) ? PROXY_CORE : OTHER_CORE
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

/**
 * The transparent proxy of a supervisor of the built program, and a bare listener with a pool, against the same server
 * direct: throughput at 32 connections, latency at one, and what a hundred idle proxies cost.
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
  const supervisor = await startOwnSupervisor()
  try {
    const pin = ['--all-tasks', '--cpu-list', '--pid', PROXY_CORE, String(supervisor.pid)]
    if (pins) spawnSync('taskset', pin)
    const direct = `http://127.0.0.1:${await begin('proxy-backend.ts').line()}`
    const remote = { remote_url: `${direct}/mcp`, transport: 'streamable-http' } as const
    const proxied = `http://127.0.0.1:${(await supervisor.add(remote, 'proxy')).port}`
    const bare = `http://127.0.0.1:${await begin('bare-proxy.ts', [direct]).line()}`
    const origins = { direct, proxied, bare }
    const loads = { direct: [] as Load[], proxied: [] as Load[], bare: [] as Load[] }
    const singles = { direct: [] as Load[], proxied: [] as Load[], bare: [] as Load[] }
    // As every client does first: the proxy then knows the era of the server, and need not read later requests.
    await initialize(`${proxied}/mcp`)
    for (const kind of [...KINDS, ...KINDS]) await load(origins[kind], 32, 2)
    for (let round = 0; round < 5; round++) {
      for (const kind of KINDS) {
        loads[kind].push(await load(origins[kind], 32, 3))
        singles[kind].push(await load(origins[kind], 1, 1))
      }
    }
    const perProxy = ((await memory(direct, 101)) - (await memory(direct, 1))) / 100 / 1024 / 1024

    const rates = (all: Load[]) => all.map(one => one.requestsPerSecond)
    const percents = (all: Load[]) => ratios(rates(all), rates(loads.direct)).map(ratio => ratio * 100)
    const added = (all: Load[]) => all.map((one, round) => one.p50 - (singles.direct[round]?.p50 ?? 0))
    const each = [loads, singles].flatMap(measured => KINDS.flatMap(kind => measured[kind]))
    const lost = each.reduce((sum, one) => sum + one.failed, 0)
    const percent = percents(loads.proxied)
    return {
      name: 'transparent proxy, 1 KB JSON',
      conditions: pins
        ? `the built program; proxy on core ${PROXY_CORE}; load and server share core ${OTHER_CORE}, also without the ` +
          'proxy; figures of one round: median (least–most)'
        : 'the built program; no core pinned: one core, or no taskset(1)',
      measured: Math.min(...each.map(one => one.total)),
      figures: {
        'requests/s direct, 32 connections': spread(rates(loads.direct), 0),
        'requests/s proxied': spread(rates(loads.proxied), 0),
        [`% of direct (at least ${LEAST_PERCENT})`]: spread(percent, 1),
        '% of direct of a bare listener and pool (bound)': spread(percents(loads.bare), 1),
        'ms p50 direct, 1 connection': spread(singles.direct.map(one => one.p50)),
        [`ms p50 added (at most ${MOST_ADDED_MS})`]: spread(added(singles.proxied)),
        'ms p50 added by a bare listener and pool (bound)': spread(added(singles.bare)),
        'failed requests (0)': lost,
        [`MiB for one more idle proxy (at most ${MOST_MIB})`]: perProxy,
      },
      ok:
        median(percent) >= LEAST_PERCENT &&
        median(added(singles.proxied)) <= MOST_ADDED_MS &&
        lost === 0 &&
        perProxy <= MOST_MIB,
    }
  } finally {
    await supervisor.close()
    for (const { child } of programs) child.kill()
  }
}
