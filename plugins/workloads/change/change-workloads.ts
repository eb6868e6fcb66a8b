import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Supervisor } from '../../../src/contracts/workload.ts'
import { isFailure, messageOf } from '../../../src/errors.ts'
import type { WorkloadStore } from '../../state/index.ts'
import { failures } from '../failures.ts'
import type { Workloads } from '../service.ts'
import { applyFlags } from './apply-flags.ts'
import { cloneConfig, copyConfig, revealKept } from './copy-config.ts'
import { findLiveChange } from './find-live-change.ts'

/** The operations that change an existing workload. */
type Changes = Pick<Workloads, 'withFlags' | 'edit' | 'rename' | 'cloneConfig'>

/** Edits, renames and copies workloads. `Workloads` says what each operation promises. */
export function createChanges(options: {
  app: App
  store: WorkloadStore
  supervisor: () => Promise<Supervisor>
  replace: Workloads['replace']
  conceal: (config: RunConfig) => Promise<RunConfig>
}): Changes {
  const { app, store, supervisor, replace, conceal } = options

  const isUp = async (name: string) => {
    const status = (await store.statuses.read(name))?.status
    return status !== undefined && status !== 'stopped'
  }

  /** `before` with its secrets, which a change can replace. Where they cannot be read, the edit may be what mends that. */
  const toRestore = (before: RunConfig) =>
    revealKept(app, before).catch(error => {
      if (!isFailure(error)) throw error
      return before
    })

  /** Restores the run config of before a change, starts the workload with it, and fails with `edit_failed`. */
  async function putBack(saved: RunConfig, before: RunConfig, error: unknown): Promise<never> {
    const { name } = before
    const restore = async () => {
      // The supervisor has chosen the port where the change gave none.
      const stored = saved.port ? saved : { ...saved, port: (await store.configs.get(name)).port }
      await (await replace(stored, before)).up
    }
    const again = await problemOf(restore())
    const hint = isFailure(error) ? error.hint : undefined
    throw failures.edit_failed({ name, reason: messageOf(error), again, hint }, { cause: error })
  }

  return {
    withFlags: (before, request, table) => applyFlags(app, before, request, table),

    async edit(before, config) {
      const { name } = before
      const changeLive = await findLiveChange(app, before, config)
      if (!changeLive && !(await isUp(name))) {
        await store.configs.saveOver(before, () => conceal(config))
        return
      }
      const restored = await toRestore(before)
      const { saved, up } = await replace(before, config, changeLive)
      await up.catch(error => putBack(saved, restored, error))
    },

    async rename(from, to) {
      const supervise = await supervisor()
      // Undefined where a rename of these names was killed after it had saved the copy: this one finishes it.
      const copy = await copyConfig(app, store, { from, to }).catch(error => {
        if (!isFailure(error, 'rename_unfinished')) throw error
      })
      const wasUp = (await isUp(from)) || (!copy && (await isUp(to)))
      await supervise.ensure()
      // Saved while the other one still runs: a failure here stops nothing.
      if (copy) await store.configs.saveNew(copy, conceal)
      try {
        if (wasUp) {
          await supervise.stop(from)
          await supervise.start(to)
        }
      } catch (error) {
        await supervise.remove(to).catch(problem => app.log.warn(messageOf(problem), { workload: to }))
        const again = await problemOf(supervise.start(from))
        const hint = isFailure(error) ? error.hint : undefined
        const reason = messageOf(error)
        throw failures.edit_failed({ name: from, reason, again, hint }, { cause: error })
      }
      await supervise.remove(from)
    },

    cloneConfig: (from, to) => cloneConfig(app, store, { from, to }),
  }
}

const problemOf = (work: Promise<void>): Promise<string | undefined> => work.then(() => undefined, messageOf)
