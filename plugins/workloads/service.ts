import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import type { App } from '../../src/app.ts'
import type { FlagTable } from '../../src/cli/flags.ts'
import { instanceName, type RunConfig } from '../../src/contracts/run-config.ts'
import type { Instance, LogOptions } from '../../src/contracts/runtime.ts'
import type { StatusRecord, Supervisor, Workload } from '../../src/contracts/workload.ts'
import { redact } from '../../src/lib/redact.ts'
import type { WorkloadStore } from '../state/index.ts'
import { createBringUp } from './bring-up.ts'
import type { RunRequest } from './build-config.ts'
import { failures } from './failures.ts'
import { hideSecrets } from './hide-secrets.ts'
import { measureWorkloads, type WorkloadUsage } from './measure-workloads.ts'
import { findStaleLogs } from './prune-logs.ts'
import {
  isHalfDown,
  isOrphaned,
  type ListFilter,
  lookOnce,
  matches,
  toDamaged,
  toDetailedWorkload,
  toWorkload,
} from './to-workload.ts'

/** What happened to one of several workloads. */
export interface Outcome {
  readonly name: string
  readonly error?: unknown
}

/** All rules about workloads. Every change goes through the supervisor; what is read comes from disk. */
export interface Workloads {
  /** Checks, fetches and writes down a new workload without starting it. */
  prepare(request: RunRequest): Promise<RunConfig>
  /**
   * Saves a new workload and brings it up. When that fails, or is interrupted, nothing of it is left. A port that the
   * user did not choose is changed if another program has taken it.
   */
  run(config: RunConfig, options: { portIsGiven: boolean; signal?: AbortSignal }): Promise<Workload>
  /**
   * Saves a new workload without starting it, and returns what is saved. A port that the user did not choose is changed if
   * another workload has it.
   */
  save(config: RunConfig, options: { portIsGiven: boolean }): Promise<RunConfig>
  /**
   * Saves a new workload and begins to bring it up; `up` tells how that ended, as does its status. It
   * stays, also when it fails. A port that the user did not choose is changed if another workload has it.
   */
  create(
    config: RunConfig,
    options: { portIsGiven: boolean },
  ): Promise<{ config: RunConfig; up: Promise<void> }>
  /**
   * Puts another run config in the place of a workload's, which was `before`; `up` as at `create`, `saved` is what is
   * stored now. Fails with `workload_changed` when `before` is not what was stored. `changeLive` stores it instead, and
   * nothing is restarted where it returns true (`Section.changeLive`).
   */
  replace(
    before: RunConfig,
    config: RunConfig,
    changeLive?: (config: RunConfig) => Promise<boolean>,
  ): Promise<{ saved: RunConfig; up: Promise<void> }>
  /**
   * Replaces the run config `before` of a workload with an edited one. Restarts the server, unless the change can be made
   * live; a stopped workload stays stopped. If the server does not start, it is started with `before` again, and this
   * fails with `edit_failed`.
   */
  edit(before: RunConfig, config: RunConfig): Promise<void>
  /** `before` with what the given flags of `run` change, not saved. Fails with `flag_not_edited`. */
  withFlags(before: RunConfig, request: RunRequest, table: FlagTable): Promise<RunConfig>
  /**
   * Gives a workload another name; its port stays. After a failure (`edit_failed`) it has the old name. Finishes
   * a rename of these names that was killed.
   */
  rename(from: string, to: string): Promise<void>
  /**
   * The run config of a copy under another name, with its own ports, for `prepare` and `run`. It holds the credentials
   * that were kept for the workload alone, in clear. Fails with `workload_exists`.
   */
  cloneConfig(from: string, to: string): Promise<RunConfig>
  /** Like `run`, in the calling process, until the signal aborts; afterwards nothing of it is left. */
  runInForeground(config: RunConfig, options: ForegroundOptions): Promise<void>
  /** Starts an existing workload in the calling process; afterwards it is stopped. */
  startInForeground(name: string, options: ForegroundOptions): Promise<void>
  list(filter?: ListFilter): Promise<Workload[]>
  /** Fails with `workload_missing`. */
  get(name: string): Promise<Workload>
  /** Fails with `workload_missing`. */
  config(name: string): Promise<RunConfig>
  /** All there is about a workload, without what looks like a secret. Fails with `workload_missing`. */
  inspect(name: string): Promise<Inspection>
  /** What the servers of workloads use now; without names those of all that run. Fails with `workload_missing`. */
  measure(names: readonly string[]): Promise<WorkloadUsage[]>
  start(names: readonly string[]): Promise<Outcome[]>
  stop(names: readonly string[]): Promise<Outcome[]>
  /** Takes down what runs, then starts it; one that cannot be taken down is not started on top of that. */
  restart(names: readonly string[]): Promise<Outcome[]>
  remove(names: readonly string[]): Promise<Outcome[]>
  /** What the server printed. Fails with `logs_missing` when it has no instance, or with `logs_untimed`. */
  logs(name: string, options?: LogOptions): Promise<Readable>
  /** Path of the proxy's log, whether or not it is there yet. */
  proxyLog(name: string): Promise<string>
  /** The paths of proxy logs of workloads that are gone. */
  findStaleLogs(): Promise<string[]>
  /** Deletes these logs. Returns their paths. */
  pruneLogs(): Promise<string[]>
}

export interface Inspection {
  readonly workload: Workload
  readonly config: RunConfig
  /** Absent for a remote server, and where there is none now. */
  readonly instance?: Instance
}

export interface ForegroundOptions {
  readonly signal: AbortSignal
  /** Called once, when the server responds. */
  readonly onUp: (workload: Workload) => void
}

/** It is long because the many short operations share the same helpers. */
export function createWorkloads({ app, store }: { app: App; store: WorkloadStore }): Workloads {
  const supervisor = () => app.service('supervisor')

  async function conceal(prepared: RunConfig): Promise<RunConfig> {
    let config = prepared
    for (const make of await app.contributions('preparations')) {
      config = (await make(app).conceal?.(config)) ?? config
    }
    return config
  }

  async function one(name: string): Promise<Workload> {
    return toDetailedWorkload(await store.configs.get(name), await store.statuses.read(name))
  }

  /** The next command after a kill of the supervisor brings it back. */
  async function reviveSupervisor(records: Iterable<StatusRecord>): Promise<boolean> {
    const runs = lookOnce()
    if (![...records].some(record => isOrphaned(record, runs) || isHalfDown(record, runs))) return false
    await (await supervisor()).ensure()
    return true
  }

  async function each(
    names: readonly string[],
    act: (supervisor: Supervisor, name: string) => Promise<void>,
    { evenDamaged = false } = {},
  ) {
    const supervise = await supervisor()
    return Promise.all(
      names.map(async (name): Promise<Outcome> => {
        try {
          if (!evenDamaged || !(await store.configs.problems()).has(name)) await store.configs.get(name)
          await act(supervise, name)
          return { name }
        } catch (error) {
          return { name, error }
        }
      }),
    )
  }

  async function get(name: string): Promise<Workload> {
    const config = await store.configs.get(name)
    if (await reviveSupervisor((await store.statuses.list()).values())) return one(name)
    return toDetailedWorkload(config, await store.statuses.read(name))
  }

  const bringUp = createBringUp({ store, supervisor, one, conceal, log: app.log })

  /** Loaded when it is used: what changes workloads needs much that `list` and `status` do not. */
  async function changes() {
    const { createChanges } = await import('./change/change-workloads.ts')
    return createChanges({ app, store, supervisor, replace: bringUp.replace, conceal })
  }

  return {
    ...bringUp,
    edit: async (...args) => (await changes()).edit(...args),
    withFlags: async (...args) => (await changes()).withFlags(...args),
    rename: async (...args) => (await changes()).rename(...args),
    cloneConfig: async (...args) => (await changes()).cloneConfig(...args),
    prepare: async request => (await import('./prepare-run.ts')).prepareRun(app, store, request),

    async list(filter = {}) {
      let records = await store.statuses.list()
      if (await reviveSupervisor(records.values())) records = await store.statuses.list()
      const configs = await store.configs.list()
      const runs = lookOnce()
      const damaged = [...(await store.configs.problems())].map(([name, problem]) => toDamaged(name, problem))
      return configs
        .map(config => toWorkload(config, records.get(config.name), runs))
        .concat(damaged)
        .filter(workload => matches(workload, filter))
        .sort((a, b) => (a.name < b.name ? -1 : 1))
    },

    get,
    async inspect(name) {
      const workload = await get(name)
      const config = await store.configs.get(name)
      const runtime = config.runtime && (await (await app.service('runtimes')).get(config.runtime))
      const instance = runtime ? await runtime.inspect(instanceName(config)) : undefined
      return { ...redact({ workload, ...(instance ? { instance } : {}) }), config: hideSecrets(config) }
    },

    config: name => store.configs.get(name),
    async measure(names) {
      const wanted = names.length ? names : (await this.list()).map(({ name }) => name)
      const damaged = names.length ? new Map() : await store.configs.problems()
      const configs = await Promise.all(
        wanted.filter(name => !damaged.has(name)).map(name => store.configs.get(name)),
      )
      const runtimes = await app.service('runtimes')
      return measureWorkloads(configs, { get: runtimes.get, log: app.log })
    },
    start: names => each(names, (supervise, name) => supervise.start(name)),
    stop: names => each(names, (supervise, name) => supervise.stop(name)),
    restart: names => each(names, (supervise, name) => supervise.restart(name)),
    remove: names => each(names, (supervise, name) => supervise.remove(name), { evenDamaged: true }),

    async logs(name, options = {}) {
      const config = await store.configs.get(name)
      if (!config.runtime) throw failures.logs_missing({ name })
      const runtime = await (await app.service('runtimes')).get(config.runtime)
      if ((options.since || options.timestamps) && !runtime.timesLogs)
        throw failures.logs_untimed({ name, runtime: runtime.name })
      const instance = instanceName(config)
      if (!(await runtime.inspect(instance))) throw failures.logs_missing({ name })
      return runtime.logs(instance, options)
    },

    async proxyLog(name) {
      await store.configs.get(name)
      return store.proxyLogPath(name)
    },

    async findStaleLogs() {
      const configs = (await store.configs.list()).map(config => config.name)
      const names = new Set([...configs, ...(await store.configs.problems()).keys()])
      return findStaleLogs(dirname(store.proxyLogPath('any')), names)
    },

    async pruneLogs() {
      const paths = await this.findStaleLogs()
      await Promise.all(paths.map(path => rm(path, { force: true })))
      return paths
    },
  }
}
