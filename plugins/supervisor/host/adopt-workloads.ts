import { instanceName } from '../../../src/contracts/run-config.ts'
import type { Status, StatusRecord } from '../../../src/contracts/workload.ts'
import { isFailure, messageOf } from '../../../src/errors.ts'
import { type HostedWorkload, type HostState, openWorkload } from './host-state.ts'
import { removeOrphans } from './remove-orphans.ts'
import { stopInstance } from './stop-instance.ts'
import type { StartMode } from './workload-instance.ts'

const SHOULD_RUN: readonly Status[] = ['running', 'starting', 'unhealthy', 'auth_retrying', 'unauthenticated']
/** How many workloads are adopted at a time, so that an engine does not get a hundred requests at once. */
const CONCURRENCY = 8

const QUARANTINED =
  'It crashed the supervisor three times within five minutes and is no longer started automatically.'

/** Takes over every workload that should run, and finishes operations that a killed process left. */
export async function adoptWorkloads(
  state: HostState,
  finish: {
    stop(name: string): Promise<void>
    remove(name: string): Promise<void>
    settleUpgrades(): Promise<void>
  },
): Promise<void> {
  const { store, runtimes, journal, log, inTurn } = state
  const statuses = await store.statuses.list()
  const suspects = journal?.suspects() ?? new Set()
  const oneByOne: [name: string, record: StatusRecord][] = []
  const others: (() => Promise<void>)[] = []
  const logged = (name: string, work: Promise<void>) =>
    work.catch(error => log.error(messageOf(error), { workload: name }))
  const adopt = (name: string, record: StatusRecord) => logged(name, adoptTracked(state, name, record))
  for (const [name, record] of statuses) {
    const { status } = record
    if (status === 'stopping') others.push(() => logged(name, finish.stop(name)))
    else if (status === 'removing') others.push(() => logged(name, finish.remove(name)))
    else if (!SHOULD_RUN.includes(status)) continue
    else if (journal?.isQuarantined(name)) others.push(() => logged(name, quarantine(state, name)))
    else if (suspects.has(name)) oneByOne.push([name, record])
    else others.push(() => adopt(name, record))
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, () => runAll(others)))
  for (const [name, record] of oneByOne) await adopt(name, record)
  await finish.settleUpgrades()
  const isWanted = (name: string, instance: string) => isInstanceWanted(state, name, instance)
  await removeOrphans({ runtimes: (await runtimes.all?.()) ?? [], isWanted, inTurn, log })
  await state.onChange?.()
}

async function adoptTracked(state: HostState, name: string, record: StatusRecord): Promise<void> {
  const work = () => adoptWorkload(state, name, record)
  await (state.journal ? state.journal.trackStart(name, work) : work())
}

async function adoptWorkload(state: HostState, name: string, record: StatusRecord): Promise<void> {
  const { store, leases, log, hosted } = state
  const entry = await state.inTurn(name, async () => {
    if (state.isLeaving() || hosted.has(name) || (await leases.holder(name)) !== undefined) return undefined
    try {
      const config = await store.configs.get(name)
      const lease = await leases.take(name)
      return await openWorkload(state, config, lease).catch(async error => {
        await lease.release()
        await stopInstance(state, config).catch(problem => log.warn(messageOf(problem), { workload: name }))
        throw error
      })
    } catch (error) {
      if (isFailure(error, 'hosted_elsewhere')) return undefined
      log.error(`It cannot be taken over: ${messageOf(error)}`, { workload: name })
      await state.setStatus(name, 'error', { context: messageOf(error) })
      return undefined
    }
  })
  await entry?.lifecycle.resume(startModeOf(entry, record))
}

/** A workload that was starting, or whose run config was saved since, may have an instance of an older run config. */
function startModeOf({ config, digest }: HostedWorkload, record: StatusRecord): StartMode {
  const { status, run_config_digest: before = digest } = record
  // A stdio instance starts anew in any case; the logs that its runtime kept in memory are lost.
  const isOlder = status === 'starting' || before !== digest
  return config.transport === 'stdio' || isOlder ? 'create' : 'resume'
}

/** True also for a workload that another process hosts; but only for the instance that its run config names. */
async function isInstanceWanted(state: HostState, name: string, instance: string): Promise<boolean> {
  const { store, leases, hosted } = state
  if (state.isLeaving() || (await leases.holder(name)) !== undefined) return true
  if (hosted.get(name)?.clients?.has(instance)) return true
  const config = hosted.get(name)?.config ?? (await store.configs.find(name).catch(() => undefined))
  if (config && instanceName(config) !== instance) return false
  const status = (await store.statuses.read(name))?.status
  return hosted.has(name) || (status !== undefined && SHOULD_RUN.includes(status))
}

async function quarantine(state: HostState, name: string): Promise<void> {
  state.log.error(QUARANTINED, { workload: name })
  await state.setStatus(name, 'error', { context: QUARANTINED })
  await stopInstance(state, await state.store.configs.get(name))
}

async function runAll(jobs: (() => Promise<void>)[]): Promise<void> {
  for (let job = jobs.shift(); job; job = jobs.shift()) await job()
}
