import { toMounts } from '../../../src/contracts/mounts.ts'
import type { Proxy as WorkloadProxy } from '../../../src/contracts/pipeline.ts'
import { instanceName, type RunConfig } from '../../../src/contracts/run-config.ts'
import type { Runtime } from '../../../src/contracts/runtime.ts'
import { assertEnforced } from '../../../src/contracts/unenforced.ts'
import type { Status, StatusRecord } from '../../../src/contracts/workload.ts'
import { isFailure, messageOf } from '../../../src/errors.ts'
import type { Lock } from '../../../src/lib/file-lock.ts'
import { findFreePort } from '../../../src/lib/ports.ts'
import type { Log } from '../../../src/log.ts'
import { networkKindOf } from '../../egress/index.ts'
import { failures } from '../failures.ts'
import { toInstanceSpec } from '../to-instance-spec.ts'
import { systemClock, TIMES, type Times } from './clock.ts'
import { createIsolatedAccess, type IsolatedAccess } from './isolated-access.ts'
import { createLifecycle, type Lifecycle } from './lifecycle.ts'
import { createRuntimeWatches } from './runtime-watches.ts'
import type { WorkloadHostOptions } from './workload-host.ts'
import { createWorkloadQueues } from './workload-queues.ts'

type Variables = Readonly<Record<string, string>>

/** A server, and what keeps it up. */
export interface SupervisedServer {
  readonly config: RunConfig
  readonly lifecycle: Lifecycle
  readonly runtime: Runtime | undefined
  readonly access: IsolatedAccess | undefined
}

/** A workload that this host serves. */
export interface HostedWorkload extends SupervisedServer {
  readonly proxy: WorkloadProxy
  readonly log: Log
  readonly lease: Lock
}

/** What the parts of a host stand on: who is hosted, whose turn it is, and the steps that they share. */
export type HostState = ReturnType<typeof createHostState>

export function createHostState(options: WorkloadHostOptions) {
  const { store, runtimes, proxies, leases, journal, log, logOf, clock = systemClock } = options
  const times: Times = { ...TIMES, ...options.times }
  const hosted = new Map<string, HostedWorkload>()
  const waiting = new Map<string, PromiseWithResolvers<StatusRecord | undefined>>()
  const queues = createWorkloadQueues()
  const watches = createRuntimeWatches({ hosted, clock, delays: times.delays, log })
  let leaving = false

  /** Runs work after what was begun on this workload before. */
  const inTurn = <T>(name: string, work: () => Promise<T>): Promise<T> =>
    queues.run(name, () => (journal ? journal.attribute(name, work) : work()))

  async function setStatus(
    name: string,
    status: Status,
    more: { context?: string; startedAt?: Date } = {},
  ): Promise<void> {
    await store.statuses.write(name, {
      status,
      ...(more.context ? { status_context: more.context } : {}),
      ...(more.startedAt ? { started_at: more.startedAt.toISOString() } : {}),
      process_id: status === 'stopped' || status === 'error' ? 0 : process.pid,
    })
    await options.onChange?.()
  }

  /** Opens the listener and makes the lifecycle, without bringing the server up. */
  async function open(found: RunConfig, lease: Lock): Promise<HostedWorkload> {
    assertEnforced(found)
    const workloadLog = logOf(found)
    const proxy = await proxies.open(found, { log: workloadLog })
    try {
      const config = { ...found, port: proxy.port }
      if (found.port !== proxy.port) await store.configs.save(config)
      const entry = { ...(await give(config, proxy, workloadLog)), proxy, log: workloadLog, lease }
      hosted.set(found.name, entry)
      if (entry.runtime) watches.watch(entry.runtime)
      return entry
    } catch (error) {
      await proxy.close({ graceMs: 0 })
      throw error
    }
  }

  /** Makes the lifecycle of a server behind a proxy. */
  async function give(config: RunConfig, proxy: WorkloadProxy, workloadLog: Log): Promise<SupervisedServer> {
    const { name } = config
    const runtime = config.remote_url ? undefined : await runtimes.get(config.runtime ?? '')
    const { local, target } = await toLocal(config, runtime, workloadLog)
    const access = local?.access
    const lifecycle = createLifecycle({
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
        await access?.close()
        await stopInstance(config, runtime).catch(error => log.warn(messageOf(error), { workload: name }))
        await setStatus(name, 'error', { context })
        await forget(name)
      },
    })
    return { config, lifecycle, runtime, access }
  }

  async function toLocal(config: RunConfig, runtime: Runtime | undefined, workloadLog: Log) {
    const host = config.target_host && config.target_host !== '0.0.0.0' ? config.target_host : '127.0.0.1'
    const stdio = config.transport === 'stdio'
    const port = stdio || !runtime ? 0 : config.target_port || (await findFreePort())
    const target = { host, port }
    if (!runtime) return { target, local: undefined }
    let unfit: unknown
    /** Without it nothing is made; what runs already is taken over. */
    const orUnfit = (what: string, found: Promise<Variables> | undefined): Promise<Variables> =>
      Promise.resolve(found ?? {}).catch((error: unknown) => {
        unfit ??= error
        workloadLog.warn(`${what} cannot be read now: ${messageOf(error)}`)
        return {}
      })
    const secrets = await orUnfit('Its secrets', options.findSecrets?.(config))
    const env = await orUnfit('Its folder of variables', options.findEnv?.(config))
    if (config.no_sandbox) workloadLog.warn('It runs without a sandbox (--no-sandbox).')
    const mounts = toMounts(config, workloadLog)
    const spec = toInstanceSpec(config, {
      proxyPort: config.port,
      contained: runtime.images !== undefined,
      targetPort: port,
      mounts,
      env,
      secrets,
    })
    const access = createIsolatedAccess({ config, runtime, egress: options.egress, log: workloadLog })
    return {
      target,
      local: {
        runtime,
        spec,
        unfit,
        access,
        findHidden: async () => (await options.findHidden?.(config, mounts)) ?? [],
        secrets: Object.values(secrets).filter(Boolean),
      },
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

  /** The workload is no longer hosted here. */
  async function forget(name: string): Promise<void> {
    const entry = hosted.get(name)
    hosted.delete(name)
    await entry?.access?.close()
    await entry?.lease.release()
    watches.release()
    const waiter = waiting.get(name)
    waiting.delete(name)
    waiter?.resolve(await store.statuses.read(name).catch(() => undefined))
  }

  return {
    store,
    runtimes,
    proxies,
    leases,
    journal,
    log,
    logOf,
    clock,
    times,
    hosted,
    queues,
    inTurn,
    setStatus,
    open,
    give,
    stopInstance,
    forget,
    onChange: options.onChange,
    isLeaving: () => leaving,
    leave() {
      leaving = true
    },
    assertOpen() {
      if (leaving) throw failures.supervisor_leaving()
    },
    /** Resolves with the last status when the workload is no longer hosted. */
    async ended(name: string): Promise<StatusRecord | undefined> {
      if (!hosted.has(name)) return store.statuses.read(name)
      const waiter = waiting.get(name) ?? Promise.withResolvers<StatusRecord | undefined>()
      waiting.set(name, waiter)
      return waiter.promise
    },
  }
}
