import { setTimeout as delay } from 'node:timers/promises'
import type { SupervisorOperation } from '../../src/contracts/supervisor-operation.ts'
import { messageOf } from '../../src/errors.ts'
import { readFileIfThere, removeLeftBehind, writeFileAtomic } from '../../src/lib/atomic-file.ts'
import { type Lock, tryLock } from '../../src/lib/file-lock.ts'
import type { Log } from '../../src/log.ts'
import type { Paths } from '../../src/paths.ts'
import { supervisorPaths } from './control-protocol.ts'
import { openControlServer } from './control-server.ts'
import { failures } from './failures.ts'
import { findSupervisor } from './find-supervisor.ts'
import type { WorkloadHost } from './host/workload-host.ts'
import { createIdleMemory } from './idle-memory.ts'
import type { Watcher } from './watcher.ts'

/** How long a new supervisor waits until the one before it has ended, in milliseconds. */
const LOCK_MS = 8000
const ROUND_MS = 5000

/**
 * Hosts workloads until told to end (the signal, or a handover) or until nothing has been hosted for
 * `idleMs`. Fails with `supervisor_runs` when another supervisor runs.
 *
 * No workload is stopped at the end: the next supervisor adopts what should run.
 */
export async function runSupervisor(options: {
  paths: Paths
  log: Log
  build: string
  /** Called once this process holds the lock, so that no other one uses the files. */
  makeHost: () => Promise<WorkloadHost>
  operations: () => Promise<readonly SupervisorOperation[]>
  idleMs: number
  signal: AbortSignal
  /** Whether this process goes on with other work after a handover. */
  goesOn?: boolean
  /** Runs while a workload is hosted. */
  watcher?: Watcher
}): Promise<void> {
  const { paths, log, build, makeHost, idleMs, signal, watcher, goesOn = false } = options
  const place = supervisorPaths(paths)
  const lock = await takeLock(place, build)
  const leave = new AbortController()
  let closing: Promise<void> | undefined
  let closed: Promise<void> | undefined
  try {
    const host = await makeHost()
    const operations = await options.operations()
    const close = (how: { goesOn?: boolean } = {}) => {
      closing ??= host.close({ handover: true, ...how })
      return closing
    }
    const listening = Promise.withResolvers<void>()
    let isAdopting = true
    let isLeaving = false
    const over = AbortSignal.any([signal, leave.signal])
    over.addEventListener('abort', () => watcher?.stop())
    const updateWatcher = () =>
      !over.aborted && !isLeaving && (isAdopting || host.size > 0) ? watcher?.start() : watcher?.stop()
    const adopted = listening.promise
      .then(() => host.adopt())
      .catch(error => log.error(`Adoption failed: ${messageOf(error)}`))
      .finally(() => {
        isAdopting = false
        updateWatcher()
      })
    const server = await openControlServer({
      socket: place.socket,
      build,
      host,
      operations,
      adopted,
      log,
      onHandled: updateWatcher,
      onHandover: async () => {
        log.info('Handing over to a new supervisor.')
        isLeaving = true
        watcher?.stop()
        closed = server.close()
        await close({ goesOn })
        leave.abort()
        const kept = operations.map(one => [one.name, one.takeAlong()] as const)
        return { goesOn, operations: Object.fromEntries(kept.filter(([, input]) => input !== undefined)) }
      },
    })

    /** One timer for all: ends an idle supervisor, repairs the socket, and returns memory after bursts. */
    async function untilDone(): Promise<void> {
      let idleSince = Date.now()
      const memory = createIdleMemory()
      while (!over.aborted) {
        await delay(Math.min(ROUND_MS, Math.max(50, idleMs / 2)), undefined, { signal: over }).catch(
          () => undefined,
        )
        const isNeeded = operations.some(operation => operation.isNeeded())
        if (host.busy || isNeeded || server.pending) idleSince = Date.now()
        else if (Date.now() - idleSince >= idleMs) {
          log.info('Nothing to host; the supervisor ends.')
          return
        }
        updateWatcher()
        await server.repair()
        memory.check()
      }
    }

    await writeFileAtomic(place.address, `${place.socket}\n`)
    log.info('The supervisor is up.', { pid: process.pid, build })
    updateWatcher()
    listening.resolve()
    for (const folder of [paths.config, paths.state, paths.data])
      await removeLeftBehind(folder).catch(error => log.debug(messageOf(error)))
    await untilDone()
    isLeaving = true
    watcher?.stop()
    closed ??= server.close()
    await close()
    await closed
  } finally {
    await lock.release()
  }
}

/** Waits until the supervisor before this one has ended. Fails when another one of this build goes on. */
async function takeLock(place: ReturnType<typeof supervisorPaths>, build: string): Promise<Lock> {
  const deadline = Date.now() + LOCK_MS
  for (;;) {
    const lock = await tryLock(place.lock)
    if (lock) return lock
    const other = await findSupervisor(place)
    if (other?.info.build === build || Date.now() > deadline) {
      const holder = await readFileIfThere(place.lock)
      throw failures.supervisor_runs({ pid: other?.info.pid ?? Number.parseInt(holder ?? '0', 10) })
    }
    await delay(20)
  }
}
