import { instanceName } from '../../../src/contracts/run-config.ts'
import type { Status } from '../../../src/contracts/workload.ts'
import { isFailure, messageOf } from '../../../src/errors.ts'
import type { HostState } from './host-state.ts'
import { removeOrphanedNetworks } from './remove-orphaned-networks.ts'
import type { StartMode } from './workload-instance.ts'

const MEANT_TO_RUN: readonly Status[] = ['running', 'starting', 'unhealthy', 'auth_retrying']
/** How many workloads are adopted at a time, so that an engine is not asked for a hundred things at once. */
const SIDE_BY_SIDE = 8

/** Takes over every workload that is meant to run, and finishes what a killed host left half-done. */
export function createAdoption(
  state: HostState,
  finish: {
    stop(name: string): Promise<void>
    remove(name: string): Promise<void>
    settleUpgrades(): Promise<void>
  },
): () => Promise<void> {
  const { store, runtimes, leases, journal, log, hosted, inTurn, setStatus, open, stopInstance } = state

  async function adoptOne(name: string, mode: StartMode): Promise<void> {
    const entry = await inTurn(name, async () => {
      if (state.isLeaving() || hosted.has(name) || (await leases.holder(name)) !== undefined) return undefined
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
    await entry?.lifecycle.resume(entry.config.transport === 'stdio' ? 'create' : mode)
  }

  /** An instance may be of an older run config while the workload was only starting. */
  function adoptGuarded(name: string, status: Status): Promise<void> {
    const work = () => adoptOne(name, status === 'starting' ? 'create' : 'resume')
    return (journal ? journal.trackStart(name, work) : work()).catch(error =>
      log.error(messageOf(error), { workload: name }),
    )
  }

  /** Also of a workload that another process hosts; but only the instance that its run config names. */
  async function isWanted(name: string, instance: string): Promise<boolean> {
    if (state.isLeaving() || (await leases.holder(name)) !== undefined) return true
    const config = hosted.get(name)?.config ?? (await store.configs.find(name).catch(() => undefined))
    if (config && instanceName(config) !== instance) return false
    const status = (await store.statuses.read(name))?.status
    return hosted.has(name) || (status !== undefined && MEANT_TO_RUN.includes(status))
  }

  async function park(name: string): Promise<void> {
    log.error(PARKED, { workload: name })
    await setStatus(name, 'error', { context: PARKED })
    await stopInstance(await store.configs.get(name))
  }

  return async () => {
    const statuses = await store.statuses.list()
    const suspects = journal?.suspects() ?? new Set()
    const careful: string[] = []
    const others: (() => Promise<void>)[] = []
    const logged = (name: string, what: Promise<void>) =>
      what.catch(error => log.error(messageOf(error), { workload: name }))
    for (const [name, { status }] of statuses) {
      if (status === 'stopping') others.push(() => logged(name, finish.stop(name)))
      else if (status === 'removing') others.push(() => logged(name, finish.remove(name)))
      else if (!MEANT_TO_RUN.includes(status)) continue
      else if (journal?.isQuarantined(name)) others.push(() => logged(name, park(name)))
      else if (suspects.has(name)) careful.push(name)
      else others.push(() => adoptGuarded(name, status))
    }
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, () => drain(others)))
    for (const name of careful) await adoptGuarded(name, statuses.get(name)?.status ?? 'running')
    await finish.settleUpgrades()
    await removeOrphanedNetworks({ runtimes: (await runtimes.all?.()) ?? [], isWanted, inTurn, log })
    await state.onChange?.()
  }
}

const PARKED =
  'It ended the supervisor three times within five minutes and is not brought up by itself any more.'

async function drain(jobs: (() => Promise<void>)[]): Promise<void> {
  for (let job = jobs.shift(); job; job = jobs.shift()) await job()
}
