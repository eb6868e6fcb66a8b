import { spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../../src/app.ts'
import type { SupervisorOperation } from '../../src/contracts/supervisor-operation.ts'
import { isFailure } from '../../src/errors.ts'
import { supervisorPaths } from './control-protocol.ts'
import { type CrashJournal, createCrashJournal } from './crash-journal.ts'
import type { WorkloadHost } from './host/workload-host.ts'
import type { Launch } from './launch-supervisor.ts'
import { runSupervisor } from './run-supervisor.ts'
import { createAppHost, OWN_BUILD, ownLaunch } from './service.ts'
import { createWatcher, type Watcher } from './watcher.ts'

/** After more uncaught errors than this within minutes no new supervisor is started; the next command does it. */
const MOST_CRASHES = 10
/** After more starts than this within five minutes the supervisor has no watcher; the next command restarts it. */
const MOST_STARTS = 10

/** Makes this process the supervisor. Does not return: the process exits when the supervisor ends. */
export async function runAsSupervisor(
  app: App,
  options: {
    idleMs: number
    signal: AbortSignal
    build?: string
    /** Makes the workload host, and starts the next supervisor after a crash; tests give their own. */
    makeHost?: (app: App, options: { journal: CrashJournal }) => Promise<WorkloadHost>
    next?: Launch
  },
): Promise<void> {
  const { idleMs, signal, build = OWN_BUILD, makeHost = createAppHost } = options
  const launch = options.next ?? ownLaunch(app, build)
  const watcher = createWatcher(launch)
  let starts = 0
  await runSupervisor({
    paths: app.paths,
    log: app.log,
    build,
    operations: () => makeOperations(app),
    idleMs,
    signal,
    watcher: {
      start: () => (starts <= MOST_STARTS ? watcher.start() : undefined),
      stop: () => watcher.stop(),
    },
    async makeHost() {
      const path = supervisorPaths(app.paths).journal
      const journal = createCrashJournal({ path, now: Date.now, delay: ms => delay(ms) })
      replaceOnUncaughtError(app, { journal, launch, watcher })
      starts = await journal.countStart()
      return makeHost(app, { journal })
    },
  })
  process.exit(0)
}

/**
 * Takes the role of the supervisor beside the other work of this process, if no other process has it.
 * Resolves when the role has ended: the signal aborted, or a supervisor of another build took over. No
 * workload is stopped then; `ensure` starts the next supervisor, which adopts them.
 */
export async function takeSupervisorRole(
  app: App,
  {
    signal,
    after,
  }: {
    signal: AbortSignal
    /** What this process does first, once no other process can take the role. */
    after: Promise<void>
  },
): Promise<void> {
  try {
    await runSupervisor({
      paths: app.paths,
      log: app.log,
      build: OWN_BUILD,
      operations: () => makeOperations(app),
      idleMs: Number.POSITIVE_INFINITY,
      signal,
      goesOn: true,
      async makeHost() {
        await after
        const path = supervisorPaths(app.paths).journal
        const journal = createCrashJournal({ path, now: Date.now, delay: ms => delay(ms) })
        replaceOnUncaughtError(app, { journal, launch: ownLaunch(app, OWN_BUILD) })
        return createAppHost(app, { journal })
      },
    })
  } catch (error) {
    if (!isFailure(error, 'supervisor_runs')) throw error
  }
}

const makeOperations = async (app: App): Promise<SupervisorOperation[]> =>
  Promise.all((await app.contributions('supervisorOperations')).map(make => make(app)))

/**
 * An uncaught error leaves this process in an unknown state, so it ends: it notes which workload the work
 * was for, starts the next supervisor, which waits for its end, and exits (70: EX_SOFTWARE of sysexits.h).
 */
function replaceOnUncaughtError(
  app: App,
  options: { journal: CrashJournal; launch: Launch; watcher?: Watcher },
): void {
  const { journal, launch, watcher } = options
  process.on('uncaughtException', error => {
    watcher?.stop()
    try {
      const { workload, crashes } = journal.recordCrash()
      app.log.error('Uncaught error; a new supervisor is started.', {
        stack: error instanceof Error ? error.stack : String(error),
        ...(workload === undefined ? {} : { workload }),
      })
      if (crashes <= MOST_CRASHES) {
        const [program, ...args] = launch.command
        const stdio = ['ignore' as const, 2, 2]
        spawn(program, args, { detached: true, stdio, cwd: '/', env: launch.env }).unref()
      }
    } finally {
      process.exit(70)
    }
  })
}
