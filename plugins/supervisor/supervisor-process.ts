import { spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../../src/app.ts'
import { isFailure } from '../../src/errors.ts'
import { supervisorPaths } from './control-protocol.ts'
import { type CrashJournal, createCrashJournal } from './crash-journal.ts'
import type { WorkloadHost } from './host/workload-host.ts'
import type { Launch } from './launch-supervisor.ts'
import { runSupervisor } from './run-supervisor.ts'
import { createAppHost, OWN_BUILD, ownLaunch } from './service.ts'

/** More escaped errors than this within minutes, and no successor is started: the next command does. */
const MOST_CRASHES = 10

/** Turns this process into the supervisor. Does not return: the process ends with it. */
export async function runAsSupervisor(
  app: App,
  options: {
    idleMs: number
    signal: AbortSignal
    build?: string
    /** What it hosts with, and how a successor is started; tests give their own. */
    makeHost?: (app: App, options: { journal: CrashJournal }) => Promise<WorkloadHost>
    successor?: Launch
  },
): Promise<void> {
  const { idleMs, signal, build = OWN_BUILD, makeHost = createAppHost } = options
  await runSupervisor({
    paths: app.paths,
    log: app.log,
    build,
    idleMs,
    signal,
    makeHost: () => {
      const path = supervisorPaths(app.paths).journal
      const journal = createCrashJournal({ path, now: Date.now, delay: ms => delay(ms) })
      dieOfEscapedErrors(app, journal, options.successor ?? ownLaunch(app, build))
      return makeHost(app, { journal })
    },
  })
  process.exit(0)
}

/**
 * Lets this process have the supervisor's role beside its own work, if nobody has it. Resolves when it
 * has it no longer: the signal aborted, or another build asked for it. Nothing is stopped then; what
 * this process hosted waits for a successor, which `ensure` starts.
 */
export async function takeSupervisorRole(app: App, { signal }: { signal: AbortSignal }): Promise<void> {
  try {
    await runSupervisor({
      paths: app.paths,
      log: app.log,
      build: OWN_BUILD,
      idleMs: Number.POSITIVE_INFINITY,
      signal,
      makeHost: () => {
        const path = supervisorPaths(app.paths).journal
        const journal = createCrashJournal({ path, now: Date.now, delay: ms => delay(ms) })
        dieOfEscapedErrors(app, journal, ownLaunch(app, OWN_BUILD))
        return createAppHost(app, { journal })
      },
    })
  } catch (error) {
    if (!isFailure(error, 'supervisor_runs')) throw error
  }
}

/**
 * An escaped error leaves this process in an unknown state, so it never carries on: it notes whose
 * work it was, starts a successor, which waits for its end, and goes (70: sysexits' "software").
 */
function dieOfEscapedErrors(app: App, journal: CrashJournal, { command, env }: Launch): void {
  process.on('uncaughtException', error => {
    try {
      const { workload, crashes } = journal.recordCrash()
      app.log.error('An error escaped; the supervisor is replaced.', {
        stack: error instanceof Error ? error.stack : String(error),
        ...(workload === undefined ? {} : { workload }),
      })
      if (crashes <= MOST_CRASHES) {
        const [program, ...args] = command
        spawn(program, args, { detached: true, stdio: ['ignore', 2, 2], cwd: '/', env }).unref()
      }
    } finally {
      process.exit(70)
    }
  })
}
