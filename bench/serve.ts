import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Agent, request } from 'undici'
import { findFreePort } from '../src/lib/ports.ts'
import type { Result } from './result.ts'

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const LISTED = 200
const CHANGING = 10
const PER_SECOND = 100
const SECONDS = 20
const HOSTED = 50
const ROUNDS = 15
const REST_MS = 25_000
const BOUNDS = { p99: 20, start: 3, memory: 110 }

/**
 * `serve`: how long a list of 200 workloads takes while ten of them stop and start, how fast it is up,
 * and what it weighs. The workloads are remote; nobody calls them, so their address is never asked.
 */
export async function run(): Promise<Result> {
  const start = await startRatio('/api/v1beta/workloads')
  const health = await startRatio('/health')
  const memory = await memoryMb()
  const list = await listMs()
  return {
    name: 'serve',
    conditions: 'serve and load in a process each; no core pinned; empty node and serve take turns',
    measured: list.count,
    figures: {
      [`list of ${LISTED}, p50 ms`]: list.p50,
      [`list of ${LISTED}, p99 ms (at most ${BOUNDS.p99})`]: list.p99,
      'stops and starts meanwhile': list.changes,
      [`start to the first list of workloads / empty node (at most ${BOUNDS.start})`]: start,
      'start to the first answer of /health / empty node': health,
      [`RSS with ${HOSTED} hosted workloads, MB (at most ${BOUNDS.memory})`]: memory,
    },
    ok: list.p99 <= BOUNDS.p99 && start <= BOUNDS.start && memory <= BOUNDS.memory,
  }
}

interface Served {
  readonly url: string
  readonly process: ChildProcess
  call(method: 'GET' | 'POST', path: string, body?: object): Promise<number>
}

/** Starts `serve` in a home, which is removed by its user. */
function startServe(home: string, ...args: string[]) {
  const startedAt = performance.now()
  const child = spawn(process.execPath, [program, 'serve', ...args], {
    env: { PATH: process.env.PATH, HOME: home, XDG_RUNTIME_DIR: join(home, 'run') },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return {
    child,
    startedAt,
    async end(signal: NodeJS.Signals) {
      child.kill(signal)
      await once(child, 'exit')
    },
  }
}

async function withHome<T>(work: (home: string) => Promise<T>): Promise<T> {
  const home = await mkdtemp(join(tmpdir(), 'keelson-bench-'))
  return work(home).finally(() => rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }))
}

const withServe = <T>(work: (served: Served) => Promise<T>): Promise<T> =>
  withHome(home => withServeIn(home, work))

async function withServeIn<T>(home: string, work: (served: Served) => Promise<T>): Promise<T> {
  const { child, end } = startServe(home, '--port', '0', '--rate-limit', '0')
  const agent = new Agent({ connections: 32 })
  try {
    const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
    return await work({
      url,
      process: child,
      async call(method, path, body) {
        const answer = await request(`${url}/api/v1beta/${path}`, {
          method,
          dispatcher: agent,
          ...(body ? { body: JSON.stringify(body) } : {}),
        })
        await answer.body.dump()
        return answer.statusCode
      },
    })
  } finally {
    await agent.destroy()
    await end('SIGKILL') // nothing it hosts is to be handed over
  }
}

async function host({ call }: Served, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const status = await call('POST', 'workloads', { name: `remote-${i}`, url: 'http://127.0.0.1:9/mcp' })
    if (status !== 201) throw new Error(`making remote-${i} returned status ${status}`)
  }
}

/** Requests leave at their time, whether or not those before them are answered: waiting counts. */
async function listMs(): Promise<{ p50: number; p99: number; changes: number; count: number }> {
  return withServe(async served => {
    await host(served, LISTED)
    await delay(2000)
    const over = AbortSignal.timeout(SECONDS * 1000)
    let changes = 0
    const change = async (name: string) => {
      while (!over.aborted) {
        for (const verb of ['stop', 'restart']) await served.call('POST', `workloads/${name}/${verb}`)
        changes += 2
        await delay(1000, undefined, { signal: over }).catch(() => undefined)
      }
    }
    const changing = Array.from({ length: CHANGING }, (_, i) => change(`remote-${i}`))
    const times: number[] = []
    const begin = performance.now()
    const asking: Promise<void>[] = []
    for (let i = 0; i < PER_SECOND * SECONDS; i++) {
      const due = begin + (i * 1000) / PER_SECOND
      await delay(Math.max(0, due - performance.now()))
      asking.push(
        served.call('GET', 'workloads?all=true').then(status => {
          if (status !== 200) throw new Error(`the list returned status ${status}`)
          times.push(performance.now() - due)
        }),
      )
    }
    await Promise.all([...asking, ...changing])
    const sorted = times.toSorted((a, b) => a - b)
    const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
    return { p50: at(0.5), p99: at(0.99), changes, count: sorted.length }
  })
}

async function memoryMb(): Promise<number> {
  return withServe(async served => {
    await host(served, HOSTED)
    await delay(REST_MS) // what was only needed to start is collected once all has been quiet for 15 seconds
    const status = await readFile(`/proc/${served.process.pid}/status`, 'utf8') // proc(5)
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024
  })
}

/**
 * The median of ratios of rounds, whose two starts meet the same machine. The home is that of a user who has started
 * `serve` before: Node has kept what it compiled.
 */
const startRatio = (path: string): Promise<number> => withHome(home => startRatioIn(home, path))

async function startRatioIn(home: string, path: string): Promise<number> {
  const ratios: number[] = []
  for (let round = 0; round < ROUNDS + 2; round++) {
    const before = performance.now()
    spawnSync(process.execPath, ['-e', ''])
    const between = performance.now()
    const answered = await firstAnswerMs(home, path)
    if (round >= 2) ratios.push(answered / (between - before)) // those before fill the caches
  }
  return median(ratios)
}

async function firstAnswerMs(home: string, path: string): Promise<number> {
  const port = await findFreePort()
  const { startedAt, end } = startServe(home, '--port', String(port))
  try {
    while (performance.now() - startedAt < 30_000) {
      const answer = await request(`http://127.0.0.1:${port}${path}`).catch(() => undefined)
      await answer?.body.dump()
      if (answer && answer.statusCode < 300) return performance.now() - startedAt
      await delay(1)
    }
    throw new Error('serve does not respond')
  } finally {
    await end('SIGTERM') // Node writes what it has compiled when it ends
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
