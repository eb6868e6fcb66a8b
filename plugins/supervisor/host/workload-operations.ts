import { isFailure, messageOf } from '../../../src/errors.ts'
import { failures } from '../failures.ts'
import { type HostedWorkload, type HostState, openWorkload } from './host-state.ts'
import { removeByLabel, removeInstances, stopInstance } from './stop-instance.ts'

/** Starts a workload, in its turn. Nothing happens when it runs already. */
export async function startWorkload(state: HostState, name: string): Promise<void> {
  state.assertNotLeaving()
  const before = state.hosted.get(name)
  if (before?.lifecycle.isUp()) return
  const config = await state.store.configs.get(name)
  if (before) {
    before.lifecycle.end('stop')
    await before.proxy.close({ graceMs: 0 })
    await state.forget(name)
  }
  const lease = await state.leases.take(name)
  await state.setStatus(name, 'starting')
  let entry: HostedWorkload | undefined
  try {
    entry = await openWorkload(state, config, lease)
    if (state.isLeaving()) entry.lifecycle.end('handover')
    await entry.lifecycle.start()
  } catch (error) {
    const endedBy = entry?.lifecycle.endedBy()
    entry?.lifecycle.end('stop')
    await entry?.proxy.close({ graceMs: 0 })
    if (endedBy === 'handover') {
      await state.forget(name)
      throw failures.supervisor_leaving()
    }
    if (entry) {
      await entry.access?.close()
      await removeInstances(state, entry.config, entry.runtime).catch(problem =>
        state.log.warn(messageOf(problem), { workload: name }),
      )
    }
    await state.setStatus(name, 'error', { context: messageOf(error) })
    await (entry ? state.forget(name) : lease.release())
    throw error
  }
}

/** Stops a workload, in its turn; its run config stays. */
export async function stopWorkload(state: HostState, name: string): Promise<void> {
  const config = state.hosted.get(name)?.config ?? (await state.store.configs.get(name))
  await endHosting(state, name, {
    status: 'stopping',
    async work(entry) {
      await stopInstance(state, config, entry?.runtime)
      await state.setStatus(name, 'stopped')
    },
  })
}

/** Stops a workload, in its turn, that is started next. Its status says so: a killed supervisor's successor starts it. */
export async function takeDownToRestart(state: HostState, name: string): Promise<void> {
  const config = state.hosted.get(name)?.config ?? (await state.store.configs.get(name))
  await endHosting(state, name, {
    status: 'starting',
    work: entry => stopInstance(state, config, entry?.runtime),
  })
}

/** Removes a workload with its instance, run config and status, in its turn. */
export async function removeWorkload(state: HostState, name: string): Promise<void> {
  const { store, log } = state
  let damaged = false
  const config = await store.configs.find(name).catch(error => {
    if (!isFailure(error, 'workload_unreadable')) throw error
    log.warn(messageOf(error), { workload: name })
    damaged = true
  })
  if (!config && !damaged && !(await store.statuses.read(name))) return
  await endHosting(state, name, {
    status: 'removing',
    async work(entry) {
      if (config) await removeInstances(state, config, entry?.runtime)
      else if (damaged) await removeByLabel({ runtimes: (await state.runtimes.all?.()) ?? [], log }, name)
      await store.configs.remove(name)
      await store.statuses.remove(name)
      if (config) await state.onRemoved?.(config)
    },
  })
}

/** Closes the listener, also in another process that hosts the workload, then does the work. */
async function endHosting(
  state: HostState,
  name: string,
  {
    status,
    work,
  }: {
    status: 'stopping' | 'removing' | 'starting'
    work: (entry: HostedWorkload | undefined) => Promise<void>
  },
): Promise<void> {
  const { hosted, leases, times, setStatus } = state
  state.assertNotLeaving()
  if (!hosted.has(name)) await leases.evict(name)
  const entry = hosted.get(name)
  const lease = entry?.lease ?? (await leases.take(name))
  try {
    await setStatus(name, status)
    entry?.lifecycle.end('stop')
    await entry?.proxy.close({ graceMs: times.grace })
    await entry?.access?.close()
    await entry?.clients?.close()
    await work(entry)
  } catch (error) {
    // The status stays, so that the next supervisor finishes the operation.
    await setStatus(name, status, { context: messageOf(error) })
    throw error
  } finally {
    await (entry ? state.forget(name) : lease.release())
  }
}
