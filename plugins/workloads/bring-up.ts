import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { Supervisor, Workload } from '../../src/contracts/workload.ts'
import { messageOf } from '../../src/errors.ts'
import type { Log } from '../../src/log.ts'
import type { WorkloadStore } from '../state/index.ts'
import { failures } from './failures.ts'
import { findUntakenPort, portsOfOthers } from './free-ports.ts'
import type { Workloads } from './service.ts'
import { startNew } from './start-new.ts'

/** Fails with `interrupted` when the signal aborts; the work itself goes on, and the caller undoes it. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  const { promise, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(failures.interrupted())
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort)
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
    work.catch(() => undefined) // after an interrupt no other code handles a failure of the work
  }
}

/** The operations that bring up a workload, here or in the supervisor. */
type BringUp = Pick<
  Workloads,
  'run' | 'create' | 'save' | 'replace' | 'runInForeground' | 'startInForeground'
>

/**
 * Brings up new and changed workloads. `Workloads` says what each operation promises.
 *
 * It is long because the operations share their steps and the undoing of them.
 */
export function createBringUp(options: {
  store: WorkloadStore
  supervisor: () => Promise<Supervisor>
  /** The workload as lists show it. */
  one: (name: string) => Promise<Workload>
  /** Moves what must not be saved in a run config to somewhere else. */
  conceal: (config: RunConfig) => Promise<RunConfig>
  log: Log
}): BringUp {
  const { store, supervisor, one, conceal, log } = options

  /** Saves a new workload; one of that name that has failed is removed first. */
  async function saveNew(supervise: Supervisor, config: RunConfig): Promise<void> {
    if ((await store.statuses.read(config.name))?.status === 'error') await supervise.remove(config.name)
    await store.configs.saveNew(config, conceal)
  }

  /** New workloads are saved one after another, so that each sees the ports of those before. */
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work)
    turn = mine.catch(() => undefined)
    return mine
  }

  /** Gives the workload a port that no other one has, not even a stopped one. */
  async function withOwnPort(config: RunConfig): Promise<RunConfig> {
    const taken = await portsOfOthers(store, config.name)
    const port = taken.has(config.port ?? 0) ? await findUntakenPort(taken, config.host) : config.port
    return { ...config, port }
  }

  async function save(asked: RunConfig, { portIsGiven }: { portIsGiven: boolean }): Promise<RunConfig> {
    const supervise = await supervisor()
    return inTurn(async () => {
      const config = portIsGiven ? asked : await withOwnPort(asked)
      await saveNew(supervise, config)
      return config
    })
  }

  /** Whatever is killed meanwhile, what is saved is also started: the restart waits for the lock of this save. */
  async function saveAndRestart(supervise: Supervisor, before: RunConfig, asked: RunConfig) {
    const sent = Promise.withResolvers<void>()
    let up = Promise.resolve()
    const saved = await store.configs.saveOver(before, async () => {
      const config = await conceal(asked)
      up = supervise.restart(before.name, { onSent: sent.resolve })
      up.catch(() => undefined) // nobody handles its failure where the save fails
      await Promise.race([sent.promise, up])
      return config
    })
    return { saved, up }
  }

  async function forget(supervise: Supervisor, name: string): Promise<void> {
    await supervise.remove(name).catch(error => log.warn(messageOf(error), { workload: name }))
  }

  /** Notes that a start has failed before any host could note it. */
  async function failedStart(name: string, error: unknown): Promise<never> {
    if ((await store.statuses.read(name))?.status === 'starting' && (await store.configs.find(name)))
      await store.statuses.write(name, {
        status: 'error',
        status_context: messageOf(error),
        process_id: 0,
      })
    throw error
  }

  return {
    async run(config, { portIsGiven, signal }) {
      const supervise = await supervisor()
      await supervise.ensure()
      await saveNew(supervise, config)
      try {
        await untilAborted(startNew(supervise, store, { name: config.name, portIsGiven }), signal)
      } catch (error) {
        await forget(supervise, config.name)
        throw error
      }
      return one(config.name)
    },

    save,

    async create(asked, options) {
      const supervise = await supervisor()
      await supervise.ensure()
      const config = await save(asked, options)
      await turn // A start keeps this process busy, so others that are about to be saved come first.
      await store.statuses.write(config.name, { status: 'starting', process_id: process.pid })
      return { config, up: supervise.start(config.name).catch(error => failedStart(config.name, error)) }
    },

    async replace(before, asked, changeLive) {
      const supervise = await supervisor()
      await supervise.ensure()
      const { name } = before
      if (await changeLive?.(asked)) return { saved: await store.configs.get(name), up: Promise.resolve() }
      if (changeLive) return { saved: await store.configs.get(name), up: supervise.restart(name) }
      return saveAndRestart(supervise, before, asked)
    },

    async runInForeground(config, { signal, onUp }) {
      const supervise = await supervisor()
      await saveNew(supervise, config)
      try {
        await supervise.foreground(config.name, { signal, onUp: async () => onUp(await one(config.name)) })
      } finally {
        await forget(supervise, config.name)
      }
    },

    async startInForeground(name, { signal, onUp }) {
      await store.configs.get(name)
      await (await supervisor()).foreground(name, { signal, onUp: async () => onUp(await one(name)) })
    },
  }
}
