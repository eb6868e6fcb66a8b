import { isDeepStrictEqual } from 'node:util'
import type { Proxy as WorkloadProxy } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { assertEnforced } from '../../../src/contracts/unenforced.ts'
import type { StatusRecord } from '../../../src/contracts/workload.ts'
import { isFailure } from '../../../src/errors.ts'
import type { Lock } from '../../../src/lib/file-lock.ts'
import type { Log } from '../../../src/log.ts'
import { failures } from '../failures.ts'
import { type Clock, systemClock } from './clock.ts'
import type { Lifecycle } from './lifecycle.ts'
import { createRuntimeWatches, type RuntimeWatches } from './runtime-watches.ts'
import { createStatusWriter } from './status-writer.ts'
import { type SupervisedServer, superviseServer } from './supervise-server.ts'
import { TIMES, type Times } from './times.ts'
import type { WorkloadHostOptions } from './workload-host.ts'
import { createWorkloadQueues, type WorkloadQueues } from './workload-queues.ts'

/** A workload that this process hosts. */
export interface HostedWorkload extends SupervisedServer {
  readonly proxy: WorkloadProxy
  readonly log: Log
  readonly lease: Lock
}

/** What the parts of a workload host share: what is hosted, in which order work is done, and statuses. */
export interface HostState extends WorkloadHostOptions {
  readonly checkConfig: NonNullable<WorkloadHostOptions['checkConfig']>
  readonly clock: Clock
  readonly times: Times
  readonly hosted: Map<string, HostedWorkload>
  readonly queues: WorkloadQueues
  readonly watches: RuntimeWatches
  readonly setStatus: ReturnType<typeof createStatusWriter>
  /** Runs work after the work that was begun on this workload before. */
  inTurn<T>(name: string, work: () => Promise<T>): Promise<T>
  /** Notes that the workload is no longer hosted here, and releases what it had. */
  forget(name: string): Promise<void>
  /** Resolves with the last status when the workload is no longer hosted. */
  ended(name: string): Promise<StatusRecord | undefined>
  /** From here on no work is accepted. */
  leave(): void
  isLeaving(): boolean
  /** Fails with `supervisor_leaving` after `leave`. */
  assertNotLeaving(): void
}

export function createHostState(options: WorkloadHostOptions): HostState {
  const { store, journal, log, clock = systemClock } = options
  const times: Times = { ...TIMES, ...options.times }
  const hosted = new Map<string, HostedWorkload>()
  const waiting = new Map<string, PromiseWithResolvers<StatusRecord | undefined>>()
  const queues = createWorkloadQueues()
  const watches = createRuntimeWatches({ hosted, clock, delays: times.delays, log })
  let leaving = false
  return {
    checkConfig: async config => assertEnforced(config),
    ...options,
    clock,
    times,
    hosted,
    queues,
    watches,
    setStatus: createStatusWriter({
      ...options,
      proxyOf: name => hosted.get(name)?.proxy,
      digestOf: name => hosted.get(name)?.digest,
    }),
    inTurn: (name, work) => queues.run(name, () => (journal ? journal.attribute(name, work) : work())),
    async forget(name) {
      const entry = hosted.get(name)
      hosted.delete(name)
      await entry?.access?.close()
      await entry?.clients?.close()
      await entry?.lease.release()
      watches.release()
      const waiter = waiting.get(name)
      waiting.delete(name)
      waiter?.resolve(await store.statuses.read(name).catch(() => undefined))
    },
    async ended(name) {
      if (!hosted.has(name)) return store.statuses.read(name)
      const waiter = waiting.get(name) ?? Promise.withResolvers<StatusRecord | undefined>()
      waiting.set(name, waiter)
      return waiter.promise
    },
    leave() {
      leaving = true
    },
    isLeaving: () => leaving,
    assertNotLeaving() {
      if (leaving) throw failures.supervisor_leaving()
    },
  }
}

/**
 * Opens the listener of a workload and creates its lifecycle; the server is not started yet. What is stored when the
 * proxy is open is what it was opened with: a change that is stored later finds an open proxy.
 */
export async function openWorkload(state: HostState, found: RunConfig, lease: Lock): Promise<HostedWorkload> {
  await state.checkConfig(found)
  const log = state.logOf(found)
  let lifecycle: Lifecycle | undefined
  const onChange = () => lifecycle?.proxyChanged()
  const proxy = await state.proxies.open(found, {
    log,
    onAccess: onChange,
    onMiddlewares: onChange,
    onProtocol: onChange,
    onProcesses: onChange,
  })
  let changed: RunConfig | undefined
  try {
    const config = { ...found, port: proxy.port }
    changed = await keepUnchanged(state, found, config)
    if (!changed) {
      const entry = { ...(await superviseServer(state, config, { proxy, log })), proxy, log, lease }
      lifecycle = entry.lifecycle
      state.hosted.set(found.name, entry)
      if (entry.runtime) state.watches.watch(entry.runtime)
      return entry
    }
  } catch (error) {
    await proxy.close({ graceMs: 0 })
    throw error
  }
  await proxy.close({ graceMs: 0 })
  return openWorkload(state, changed, lease)
}

/** Stores the port in the run config. Returns what is stored instead where that is not `found` any more. */
async function keepUnchanged(
  { store: { configs } }: HostState,
  found: RunConfig,
  config: RunConfig,
): Promise<RunConfig | undefined> {
  if (found.port !== config.port) {
    try {
      await configs.saveOver(found, config)
      return undefined
    } catch (error) {
      if (!isFailure(error, 'workload_changed')) throw error
    }
  }
  const stored = await configs.get(found.name)
  return isDeepStrictEqual(stored, found) ? undefined : stored
}
