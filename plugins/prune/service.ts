import { stat } from 'node:fs/promises'
import type { Runtime } from '../../src/contracts/runtime.ts'
import { isFailure, messageOf } from '../../src/errors.ts'
import type { Log } from '../../src/log.ts'
import type { Runtimes } from '../runtimes/index.ts'
import type { WorkloadStore } from '../state/index.ts'
import type { Workloads } from '../workloads/index.ts'

/** Something that no workload uses. */
export interface Unused {
  readonly kind: 'image' | 'package' | 'log'
  /** The reference of an image or a package, the path of a log. */
  readonly name: string
  /** The runtime that has it; absent for logs. */
  readonly runtime?: string
  readonly bytes: number
}

export interface Prune {
  /** What could be deleted, largest first. Runtimes that do not respond are left out. */
  find(): Promise<Unused[]>
  /** Deletes what `find` returned, and returns what is gone; what is in use after all stays. */
  remove(unused: readonly Unused[]): Promise<Unused[]>
}

export function createPrune(options: {
  store: Pick<WorkloadStore, 'configs' | 'upgrades'>
  runtimes: Pick<Runtimes, 'all' | 'get'>
  workloads: Pick<Workloads, 'findStaleLogs' | 'pruneLogs'>
  log: Log
}): Prune {
  const { store, runtimes, workloads, log } = options

  /** What run configs, upgrades under way and instances name. Undefined while a run config cannot be read. */
  async function usedImages(runtime: Runtime): Promise<ReadonlySet<string> | undefined> {
    if ((await store.configs.problems()).size > 0) return undefined
    const names = await store.upgrades.names()
    const records = await Promise.all(names.map(name => store.upgrades.find(name)))
    const configs = [
      ...(await store.configs.list()),
      ...records.flatMap(record => (record ? [record.from, record.to] : [])),
    ]
    return new Set([...configs, ...(await runtime.list())].flatMap(({ image }) => image ?? []))
  }

  async function ofRuntime(found: Runtime): Promise<Unused[]> {
    const { name: runtime, images, packages } = found
    const used = await usedImages(found)
    if (!used) return []
    const [built = [], installed = []] = await Promise.all([images?.built?.(), packages?.installed?.()])
    const unused = (kind: Unused['kind']) => (found: { name: string; bytes: number }) =>
      used.has(found.name) ? [] : [{ kind, runtime, ...found }]
    return [...built.flatMap(unused('image')), ...installed.flatMap(unused('package'))]
  }

  function leaveOut({ name }: Runtime, error: unknown): [] {
    if (!isFailure(error)) throw error
    // An engine that is not installed or not running is no news.
    if (error.code !== 'runtime_unavailable') log.warn(`${name} is left out: ${error.message}`)
    return []
  }

  /** Returns whether it is gone. A workload may have begun to use it while the user was asked. */
  async function removeOne({ kind, name, runtime: runtimeName = '' }: Unused): Promise<boolean> {
    const runtime = await runtimes.get(runtimeName)
    const used = await usedImages(runtime)
    if (!used || used.has(name)) {
      log.warn(`${name} stays: ${used ? 'a workload uses it.' : 'what a run config uses cannot be read.'}`)
      return false
    }
    await (kind === 'image' ? runtime.images : runtime.packages)?.remove?.(name)
    return true
  }

  return {
    async find() {
      const isKnown = (await store.configs.problems()).size === 0
      if (!isKnown) log.warn('Images and packages are left out: what a run config uses cannot be read.')
      const perRuntime = await Promise.all(
        (isKnown ? await runtimes.all() : []).map(runtime =>
          ofRuntime(runtime).catch(error => leaveOut(runtime, error)),
        ),
      )
      const logs = await Promise.all(
        (await workloads.findStaleLogs()).map(async name => ({
          kind: 'log' as const,
          name,
          bytes: (await stat(name)).size,
        })),
      )
      return [...perRuntime.flat(), ...logs].sort((a, b) => b.bytes - a.bytes)
    },

    async remove(unused) {
      const removed: Unused[] = []
      if (unused.some(({ kind }) => kind === 'log')) {
        const gone = new Set(await workloads.pruneLogs())
        removed.push(...unused.filter(({ kind, name }) => kind === 'log' && gone.has(name)))
      }
      for (const one of unused.filter(({ kind }) => kind !== 'log')) {
        try {
          if (await removeOne(one)) removed.push(one)
        } catch (error) {
          if (!isFailure(error)) throw error
          log.warn(`${one.name} stays: ${messageOf(error)}`)
        }
      }
      return removed
    },
  }
}
