import type { Proxies, Proxy as WorkloadProxy } from '../../../src/contracts/pipeline.ts'
import { instanceName, type RunConfig } from '../../../src/contracts/run-config.ts'
import type { HiddenPath, Mount, Runtime } from '../../../src/contracts/runtime.ts'
import type { Status, StatusRecord } from '../../../src/contracts/workload.ts'
import { isFailure, messageOf } from '../../../src/errors.ts'
import type { Lock } from '../../../src/lib/file-lock.ts'
import { findFreePort } from '../../../src/lib/ports.ts'
import type { Log } from '../../../src/log.ts'
import { type EgressProxy, networkKindOf } from '../../egress/index.ts'
import { toMounts, type WorkloadStore } from '../../workloads/index.ts'
import { failures } from '../failures.ts'
import { toInstanceSpec } from '../instance-spec.ts'
import type { Journal } from '../journal.ts'
import type { Leases } from '../lease.ts'
import { type Clock, systemClock, TIMES, type Times } from './clock.ts'
import { type Enclosed, enclose } from './enclosed.ts'
import { createLife, type Life } from './life.ts'
import { createMonitor, type Monitor } from './monitor.ts'
import { createQueues } from './queues.ts'
import type { Way } from './server-side.ts'
import { sweep } from './sweep.ts'

/** Runs workloads inside this process: what the supervisor does for all, and `run --foreground` for one. */
export interface Host {
  /** How many workloads it hosts. */
  readonly size: number
  /** Whether anything is hosted or being done. */
  readonly busy: boolean
  /** What these three promise stands at `Supervisor`. */
  start(name: string): Promise<void>
  stop(name: string): Promise<void>
  remove(name: string): Promise<void>
  /** Takes over every workload that is meant to run, and finishes what a killed host left half-done. */
  adopt(): Promise<void>
  /** Resolves with the last status when this host no longer hosts the workload. */
  ended(name: string): Promise<StatusRecord | undefined>
  /**
   * Ends the host. With `handover` everything that is meant to run keeps that status, and instances
   * that need no streams of ours keep running; otherwise all workloads are stopped.
   */
  close(options: { handover: boolean }): Promise<void>
}

export interface HostOptions {
  readonly store: WorkloadStore
  readonly runtimes: {
    get(name: string): Promise<Runtime>
    /** Every runtime there is: their remains are looked for when this host takes over. */
    all?(): Promise<readonly Runtime[]>
  }
  /** The way out of isolated workloads; without it none can be hosted. */
  readonly egress?: EgressProxy
  readonly proxies: Proxies
  readonly leases: Leases
  /** Remembers what was begun, to find the workload that kills its host; left out in the foreground. */
  readonly journal?: Journal
  readonly log: Log
  /** The log of one workload's proxy. */
  readonly logOf: (config: RunConfig) => Log
  /** Variables that are found anew at every start. */
  readonly findEnv?: (config: RunConfig) => Promise<Readonly<Record<string, string>>>
  /** Variables whose values are secret, found anew at every start; they are hidden in what is said of the server. */
  readonly findSecrets?: (config: RunConfig) => Promise<Readonly<Record<string, string>>>
  /** What of the mounted folders an instance must not see. */
  readonly findHidden?: (config: RunConfig, mounts: readonly Mount[]) => Promise<readonly HiddenPath[]>
  /** A status was written, or adoption has ended; the host goes on when this has resolved. Must not fail. */
  readonly onChange?: () => Promise<void>
  readonly clock?: Clock
  readonly times?: Partial<Times>
}

interface Hosted {
  readonly config: RunConfig
  readonly life: Life
  readonly proxy: WorkloadProxy
  readonly runtime: Runtime | undefined
  readonly enclosed: Enclosed | undefined
  readonly lease: Lock
}

const MEANT_TO_RUN: readonly Status[] = ['running', 'starting', 'unhealthy', 'auth_retrying']
/** How many workloads are adopted at a time, so that an engine is not asked for a hundred things at once. */
const SIDE_BY_SIDE = 8

export function createHost(options: HostOptions): Host {
  const { store, runtimes, proxies, leases, journal, log, logOf, clock = systemClock } = options
  const times: Times = { ...TIMES, ...options.times }
  const hosted = new Map<string, Hosted>()
  const monitors = new Map<Runtime, Monitor>()
  const waiting = new Map<string, PromiseWithResolvers<StatusRecord | undefined>>()
  const queues = createQueues()
  let leaving = false

  const inTurn = <T>(name: string, work: () => Promise<T>): Promise<T> =>
    queues.run(name, () => (journal ? journal.during(name, work) : work()))
  const assertOpen = () => {
    if (leaving) throw failures.supervisor_leaving()
  }

  const setStatus = async (
    name: string,
    status: Status,
    more: { context?: string; startedAt?: Date } = {},
  ) => {
    await store.statuses.write(name, {
      status,
      ...(more.context ? { status_context: more.context } : {}),
      ...(more.startedAt ? { started_at: more.startedAt.toISOString() } : {}),
      process_id: status === 'stopped' || status === 'error' ? 0 : process.pid,
    })
    await options.onChange?.()
  }

  /** Opens the listener and makes the life, without bringing the server up. */
  async function open(found: RunConfig, lease: Lock): Promise<Hosted> {
    const { name } = found
    const runtime = found.remote_url ? undefined : await runtimes.get(found.runtime ?? '')
    const workloadLog = logOf(found)
    const proxy = await proxies.open(found, { log: workloadLog })
    try {
      const config = { ...found, port: proxy.port }
      if (found.port !== proxy.port) await store.configs.save(config)
      const { local, target } = await toLocal(config, runtime, workloadLog)
      const enclosed = local?.enclosed
      const life = createLife({
        config,
        local,
        target,
        proxy,
        clock,
        times,
        log: workloadLog,
        setStatus: (status, more) => setStatus(name, status, more),
        enqueue: work => inTurn(name, work),
        onGivenUp: async context => {
          await proxy.close({ graceMs: 0 })
          await enclosed?.close()
          await stopInstance(config, runtime).catch(error => log.warn(messageOf(error), { workload: name }))
          await setStatus(name, 'error', { context })
          await forget(name)
        },
      })
      const entry = { config, life, proxy, runtime, enclosed, lease }
      hosted.set(name, entry)
      if (runtime) watch(runtime)
      return entry
    } catch (error) {
      await proxy.close({ graceMs: 0 })
      throw error
    }
  }

  async function toLocal(config: RunConfig, runtime: Runtime | undefined, workloadLog: Log) {
    const host = config.target_host && config.target_host !== '0.0.0.0' ? config.target_host : '127.0.0.1'
    const stdio = config.transport === 'stdio'
    const port = stdio || !runtime ? 0 : config.target_port || (await findFreePort())
    const target = { host, port }
    if (!runtime) return { target, local: undefined }
    const secrets = (await options.findSecrets?.(config)) ?? {}
    const mounts = toMounts(config, workloadLog)
    const spec = toInstanceSpec(config, {
      proxyPort: config.port,
      contained: runtime.images !== undefined,
      targetPort: port,
      mounts,
      hidden: (await options.findHidden?.(config, mounts)) ?? [],
      env: (await options.findEnv?.(config)) ?? {},
      secrets,
    })
    const enclosed = enclose({ config, runtime, egress: options.egress, log: workloadLog })
    return { target, local: { runtime, spec, enclosed, secrets: Object.values(secrets).filter(Boolean) } }
  }

  function watch(runtime: Runtime): void {
    if (monitors.has(runtime)) return
    const lives = () => [...hosted.values()].filter(entry => entry.runtime === runtime)
    const monitor = createMonitor({
      runtime,
      clock,
      delays: times.delays,
      log,
      onEvent: ({ name }) => byInstance(runtime, name)?.life.look(),
      onAway: problem => {
        log.warn(`${runtime.name} does not answer: ${problem}`)
        for (const { life } of lives()) life.engineAway(problem)
      },
      onBack: () => {
        for (const { life } of lives()) life.engineBack()
      },
    })
    monitors.set(runtime, monitor)
  }

  const byInstance = (runtime: Runtime, instance: string) =>
    [...hosted.values()].find(entry => entry.runtime === runtime && instanceName(entry.config) === instance)

  /** The workload is no longer hosted here. */
  async function forget(name: string): Promise<void> {
    const entry = hosted.get(name)
    hosted.delete(name)
    await entry?.enclosed?.close()
    await entry?.lease.release()
    for (const [runtime, monitor] of monitors) {
      if ([...hosted.values()].some(other => other.runtime === runtime)) continue
      monitor.close()
      monitors.delete(runtime)
    }
    const waiter = waiting.get(name)
    waiting.delete(name)
    waiter?.resolve(await store.statuses.read(name).catch(() => undefined))
  }

  async function startInTurn(name: string): Promise<void> {
    assertOpen()
    const before = hosted.get(name)
    if (before?.life.isUp()) return
    const config = await store.configs.get(name)
    if (before) {
      before.life.end('stop')
      await before.proxy.close({ graceMs: 0 })
      await forget(name)
    }
    const lease = await leases.take(name)
    await setStatus(name, 'starting')
    let entry: Hosted | undefined
    try {
      entry = await open(config, lease)
      if (leaving) entry.life.end('handover')
      await entry.life.begin()
    } catch (error) {
      const endedBy = entry?.life.endedBy()
      entry?.life.end('stop')
      await entry?.proxy.close({ graceMs: 0 })
      if (endedBy === 'handover') {
        await forget(name)
        throw failures.supervisor_leaving()
      }
      if (entry) {
        await entry.enclosed?.close()
        await stopInstance(config, entry.runtime, true).catch(problem =>
          log.warn(messageOf(problem), { workload: name }),
        )
      }
      await setStatus(name, 'error', { context: messageOf(error) })
      await (entry ? forget(name) : lease.release())
      throw error
    }
  }

  /** Stops or removes the instance. A runtime that no longer exists can hold none. */
  async function stopInstance(config: RunConfig, known?: Runtime, remove = false): Promise<void> {
    if (config.remote_url) return
    let runtime = known
    try {
      runtime ??= await runtimes.get(config.runtime ?? '')
    } catch (error) {
      if (!isFailure(error)) throw error
      log.warn(messageOf(error), { workload: config.name })
    }
    await (remove ? runtime?.remove(instanceName(config)) : runtime?.stop(instanceName(config)))
    if (networkKindOf(config) === 'isolated') await runtime?.isolation?.remove(instanceName(config))
  }

  /** What stop and remove have in common: nobody else hosts it, nothing listens, then `work`. */
  async function takeDown(
    name: string,
    status: 'stopping' | 'removing',
    work: (entry: Hosted | undefined) => Promise<void>,
  ): Promise<void> {
    assertOpen()
    if (!hosted.has(name)) await leases.evict(name)
    const entry = hosted.get(name)
    const lease = entry?.lease ?? (await leases.take(name))
    try {
      await setStatus(name, status)
      entry?.life.end('stop')
      await entry?.proxy.close({ graceMs: times.grace })
      await entry?.enclosed?.close()
      await work(entry)
    } catch (error) {
      // The status stays, so that the next host finishes what was asked for.
      await setStatus(name, status, { context: messageOf(error) })
      throw error
    } finally {
      await (entry ? forget(name) : lease.release())
    }
  }

  async function removeInTurn(name: string): Promise<void> {
    const config = await store.configs.find(name).catch(error => {
      if (!isFailure(error, 'workload_unreadable')) throw error
      log.warn(messageOf(error), { workload: name })
      return undefined
    })
    if (!config && !(await store.statuses.read(name))) return
    await takeDown(name, 'removing', async entry => {
      if (config) await stopInstance(config, entry?.runtime, true)
      await store.configs.remove(name)
      await store.statuses.remove(name)
    })
  }

  async function adoptOne(name: string, way: Way): Promise<void> {
    const entry = await inTurn(name, async () => {
      if (leaving || hosted.has(name) || (await leases.holder(name)) !== undefined) return undefined
      try {
        const config = await store.configs.get(name)
        const lease = await leases.take(name)
        return await open(config, lease).catch(async error => {
          await lease.release()
          await stopInstance(config).catch(problem => log.warn(messageOf(problem), { workload: name }))
          throw error
        })
      } catch (error) {
        if (isFailure(error, 'hosted_elsewhere')) return undefined
        log.error(`It cannot be taken over: ${messageOf(error)}`, { workload: name })
        await setStatus(name, 'error', { context: messageOf(error) })
        return undefined
      }
    })
    // A stdio instance begins anew in any case; what its runtime kept in memory went with the last host.
    await entry?.life.resume(entry.config.transport === 'stdio' ? 'create' : way)
  }

  /** Also of a workload that another process hosts. */
  async function isWanted(name: string): Promise<boolean> {
    const status = (await store.statuses.read(name))?.status
    if (hosted.has(name) || (status && MEANT_TO_RUN.includes(status))) return true
    return leaving || (await leases.holder(name)) !== undefined
  }

  const guard = <T>(name: string, work: () => Promise<T>): Promise<T> =>
    journal ? journal.guard(name, work) : work()

  async function park(name: string): Promise<void> {
    log.error(PARKED, { workload: name })
    await setStatus(name, 'error', { context: PARKED })
    await stopInstance(await store.configs.get(name))
  }

  const host: Host = {
    get size() {
      return hosted.size
    },
    get busy() {
      return hosted.size + queues.size > 0
    },
    start: name => inTurn(name, () => guard(name, () => startInTurn(name))),
    stop(name) {
      hosted.get(name)?.life.end('stop')
      return inTurn(name, async () => {
        const config = hosted.get(name)?.config ?? (await store.configs.get(name))
        await takeDown(name, 'stopping', async entry => {
          await stopInstance(config, entry?.runtime)
          await setStatus(name, 'stopped')
        })
      })
    },
    remove(name) {
      hosted.get(name)?.life.end('stop')
      return inTurn(name, () => removeInTurn(name))
    },
    async adopt() {
      const statuses = await store.statuses.list()
      const suspects = journal?.suspects() ?? new Set()
      const careful: string[] = []
      const others: (() => Promise<void>)[] = []
      for (const [name, { status }] of statuses) {
        const finish = (what: Promise<void>) =>
          what.catch(error => log.error(messageOf(error), { workload: name }))
        if (status === 'stopping') others.push(() => finish(host.stop(name)))
        else if (status === 'removing') others.push(() => finish(host.remove(name)))
        else if (!MEANT_TO_RUN.includes(status)) continue
        else if (journal?.isParked(name)) {
          others.push(() => finish(park(name)))
        } else if (suspects.has(name)) careful.push(name)
        else others.push(() => adoptGuarded(name, status))
      }
      await Promise.all(Array.from({ length: SIDE_BY_SIDE }, () => drain(others)))
      for (const name of careful) await adoptGuarded(name, statuses.get(name)?.status ?? 'running')
      await sweep({ runtimes: (await runtimes.all?.()) ?? [], isWanted, inTurn, log })
      await options.onChange?.()
    },
    async ended(name) {
      if (!hosted.has(name)) return store.statuses.read(name)
      const waiter = waiting.get(name) ?? Promise.withResolvers<StatusRecord | undefined>()
      waiting.set(name, waiter)
      return waiter.promise
    },
    async close({ handover }) {
      if (!handover) {
        await Promise.allSettled([...hosted.keys()].map(name => host.stop(name)))
      }
      leaving = true
      for (const { life } of hosted.values()) life.end('handover')
      await queues.idle()
      await Promise.allSettled([...hosted.values()].map(({ proxy }) => proxy.close({ graceMs: times.grace })))
      await Promise.allSettled([...hosted.keys()].map(forget))
    },
  }

  /** An instance may be of an older run config while the workload was only starting. */
  const adoptGuarded = (name: string, status: Status) =>
    guard(name, () => adoptOne(name, status === 'starting' ? 'create' : 'resume')).catch(error =>
      log.error(messageOf(error), { workload: name }),
    )

  return host
}

const PARKED =
  'It ended the supervisor three times within five minutes and is not brought up by itself any more.'

async function drain(jobs: (() => Promise<void>)[]): Promise<void> {
  for (let job = jobs.shift(); job; job = jobs.shift()) await job()
}
