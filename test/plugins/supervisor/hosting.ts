import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createWorkloadStore, type WorkloadStore } from '../../../plugins/state/workload-store.ts'
import type { Times } from '../../../plugins/supervisor/host/times.ts'
import { createWorkloadHost, type WorkloadHost } from '../../../plugins/supervisor/host/workload-host.ts'
import { createLeases } from '../../../plugins/supervisor/leases.ts'
import type { Backend, Proxies } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Runtime } from '../../../src/contracts/runtime.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths, type Paths } from '../../../src/paths.ts'

/** Never comes: looking again is left to events. */
const NEVER = 1e9

interface FakeProxy {
  readonly config: RunConfig
  readonly backends: Backend[]
  readonly reasons: string[]
  /** Candidates that were discarded. */
  discarded: number
  connected: boolean
  open: boolean
}

/**
 * Proxies that only note what they are told. `answers(name)` is asked when a host waits for a server, with
 * `next NAME` when that is to take another's place; `drains` is awaited when it has.
 */
function fakeProxies(): Proxies & {
  readonly made: FakeProxy[]
  /** The proxy that listens for a workload. */
  of(name: string): FakeProxy | undefined
  answers: (name: string) => Promise<void>
  drains: Promise<void>
  /** What is wrong with every server that runs. */
  problem: string | undefined
  fail: Error | undefined
} {
  const made: FakeProxy[] = []
  const proxies = {
    made,
    find: () => undefined,
    fail: undefined as Error | undefined,
    answers: async (_name: string): Promise<void> => undefined,
    drains: Promise.resolve(),
    problem: undefined as string | undefined,
    of: (name: string) => made.findLast(proxy => proxy.config.name === name && proxy.open),
    async open(config: RunConfig) {
      if (proxies.fail) throw proxies.fail
      const fake: FakeProxy = {
        ...{ config, backends: [], reasons: [], discarded: 0 },
        ...{ connected: false, open: true },
      }
      made.push(fake)
      return {
        port: config.port || 45_678,
        url: `http://127.0.0.1:${config.port}/mcp`,
        middlewares: [],
        async connect(backend: Backend) {
          fake.backends.push(backend)
          fake.connected = true
        },
        disconnect(reason: string) {
          fake.reasons.push(reason)
          fake.connected = false
        },
        async checkCandidate(backend: Backend, { signal }: { timeoutMs: number; signal: AbortSignal }) {
          await Promise.race([
            proxies.answers(`next ${config.name}`),
            new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
          ])
          return {
            async promote() {
              fake.backends.push(backend)
              fake.connected = true
              await proxies.drains
            },
            discard() {
              fake.discarded++
            },
          }
        },
        ready: ({ signal }: { timeoutMs: number; signal?: AbortSignal }) =>
          new Promise<void>((resolve, reject) => {
            signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
            proxies.answers(config.name).then(resolve, reject)
          }),
        findProblem: async () => proxies.problem,
        verify: async () => undefined,
        async close() {
          fake.open = false
          fake.connected = false
        },
      }
    },
  }
  return proxies
}

export interface Hosting {
  readonly host: WorkloadHost
  readonly store: WorkloadStore
  readonly proxies: ReturnType<typeof fakeProxies>
  readonly paths: Paths
  /** Waits that passed, in milliseconds. */
  readonly waits: number[]
  readonly lines: string[]
  /** What the clock shows; moves only by hand. */
  time: number
  /** While false, waits last until the work they belong to is over. */
  flows: boolean
  /** Ends all waits, and those to come. */
  pass(): void
  status(name: string): Promise<string | undefined>
  context(name: string): Promise<string | undefined>
  /** Values by variable that every workload gets, or why they cannot be read. */
  secrets: Readonly<Record<string, string>> | Error
  /** Another host on the same disk, as after a restart. */
  next(): WorkloadHost
}

/** A host with fake proxies in a home of its own; time passes at once. */
export async function hosting(runtime: Runtime, times: Partial<Times> = {}): Promise<Hosting> {
  const home = await mkdtemp(join(tmpdir(), 'ks-'))
  const paths = findPaths({ HOME: home }, 'linux')
  const lines: string[] = []
  const log = createLog({ write: line => void lines.push(line), human: false, debug: true })
  const store = createWorkloadStore({ paths, log })
  const proxies = fakeProxies()
  const waits: number[] = []
  const hosts: WorkloadHost[] = []
  const held: (() => void)[] = []
  const make = () => {
    const host = createWorkloadHost({
      store,
      proxies,
      runtimes: { get: async () => runtime, all: async () => [runtime] },
      leases: createLeases({ folder: join(paths.runtime, 'leases') }),
      log,
      logOf: config => log.with({ workload: config.name }),
      digest: async config => JSON.stringify(config),
      findSecrets: async () => {
        if (hosted.secrets instanceof Error) throw hosted.secrets
        return hosted.secrets
      },
      clock: {
        now: () => hosted.time,
        delay: async (ms, signal) => {
          if (ms !== NEVER) waits.push(ms)
          await new Promise<void>((resolve, reject) => {
            if (ms !== NEVER && hosted.flows) setImmediate(resolve)
            else if (ms !== NEVER) held.push(resolve)
            if (signal?.aborted) reject(signal.reason)
            signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
          })
        },
      },
      times: { poll: NEVER, health: NEVER, grace: 0, ...times },
    })
    hosts.push(host)
    return host
  }
  const hosted: Hosting = {
    host: undefined as unknown as WorkloadHost,
    store,
    proxies,
    paths,
    waits,
    lines,
    time: 1_000_000,
    flows: true,
    secrets: {},
    pass() {
      hosted.flows = true
      for (const resolve of held.splice(0)) resolve()
    },
    status: async name => (await store.statuses.read(name))?.status,
    context: async name => (await store.statuses.read(name))?.status_context,
    next: make,
  }
  Object.assign(hosted, { host: make() })
  onTestFinished(async () => {
    await Promise.allSettled(hosts.map(host => host.close({ handover: true })))
    await rm(home, { recursive: true, force: true })
  })
  return hosted
}

export const workload = (name: string, more: Partial<RunConfig> = {}): RunConfig => ({
  schema_version: 'v0.1.0',
  name,
  runtime: 'fake',
  image: 'serve',
  transport: 'streamable-http',
  port: 4000,
  target_port: 8080,
  isolate_network: false, // the fake runtime has no means to
  ...more,
})

export const stdio = (name: string, more: Partial<RunConfig> = {}): RunConfig => {
  const { target_port: _, ...config } = workload(name, more)
  return { ...config, image: 'echo', transport: 'stdio', ...more }
}
