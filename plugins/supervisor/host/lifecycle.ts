import type { Backend, Candidate, Proxy as WorkloadProxy } from '../../../src/contracts/pipeline.ts'
import type { Status } from '../../../src/contracts/workload.ts'
import { isFailure, messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import { failures } from '../failures.ts'
import type { Clock, Times } from './clock.ts'
import { readLastLines } from './describe-exit.ts'
import { createWorkloadInstance, type StartMode, type WorkloadInstanceOptions } from './workload-instance.ts'

/** Why a lifecycle ends: the workload is taken down, or only changes hands. */
type EndReason = 'stop' | 'handover'

/** One workload while it is meant to run: brings its server up, notices its end, brings it back. */
export interface Lifecycle {
  /** The server runs, as far as we know. */
  isUp(): boolean
  endedBy(): EndReason | undefined
  /** Brings it up for the first time, in the workload's turn; fails when that does not succeed. */
  begin(): Promise<void>
  /**
   * Brings it up behind the proxy's back and asks it for what it must be able to do; fails when it cannot.
   * It is up when it has been put in place.
   */
  startCandidate(timeoutMs: number): Promise<CandidateServer>
  /** Brings it up as after a crash. Resolves after the first try; the others follow by themselves. */
  resume(mode: StartMode): Promise<void>
  /** The runtime reports something about the instance. */
  check(): void
  runtimeUnavailable(problem: string): void
  runtimeAvailable(): void
  /** Nothing is brought back from here on, but its server may finish what it does: another one took its place. */
  retire(): void
  /** Nothing is brought back from here on. The instance is left as it is, its streams are let go. */
  end(reason: EndReason): void
}

/** A server that is fit to take another's place. */
export interface CandidateServer {
  /** Fails when it has ended since. */
  assertUp(): Promise<void>
  /** Puts it in place at once, in the workload's turn; `drained` resolves when the one before may go. */
  take(options: { graceMs: number; signal: AbortSignal }): { readonly drained: Promise<void> }
}

export interface LifecycleOptions extends Omit<WorkloadInstanceOptions, 'signal'> {
  readonly proxy: WorkloadProxy
  readonly clock: Clock
  readonly times: Times
  readonly log: Log
  readonly setStatus: (status: Status, more?: { context?: string; startedAt?: Date }) => Promise<void>
  /** Runs work in its turn with the other operations on this workload. */
  readonly enqueue: (work: () => Promise<void>) => Promise<void>
  /** It crashed too often and its lifecycle has ended. In the workload's turn. */
  readonly onGivenUp: (context: string) => Promise<void>
}

/** What went wrong, and how to go on. */
interface Trouble {
  why: string
  mode: StartMode
  /** Failures in a row that were the runtime's own. */
  away: number
  /** Trying again is of no use, or of use to an attacker alone. */
  final?: boolean
}

export function createLifecycle(options: LifecycleOptions): Lifecycle {
  const { config, local, proxy, clock, times, log, setStatus, enqueue } = options
  const ended = new AbortController()
  const server = createWorkloadInstance({ ...options, signal: ended.signal })
  let reason: EndReason | undefined
  let up = false
  let upSince = clock.now()
  let isRuntimeAway = false
  let attempts = 0
  /** Resolves with the reason when what was last brought up has ended. */
  let exited = Promise.withResolvers<string>()
  let wake = new AbortController()
  /** Fit, and not in place yet. */
  let candidate: Candidate | undefined

  const isOver = () => ended.signal.aborted
  const startedAt = () => server.startedAt() ?? new Date(upSince)
  const setLater = (status: Status, more?: { context?: string; startedAt?: Date }) =>
    enqueue(async () => {
      if (!isOver()) await setStatus(status, more)
    }).catch(error => log.error(`The status cannot be written: ${messageOf(error)}`))

  /** Brings it up once, in the workload's turn. */
  async function bringUp(mode: StartMode): Promise<void> {
    assertAlive()
    const exit = Promise.withResolvers<string>()
    exited = exit
    server.release()
    const backend = await server.open(mode, exit.resolve).catch(explain)
    assertAlive()
    await proxy.connect(backend)
    const answers = await untilAnswers(backend, exit)
    up = true
    upSince = clock.now()
    log.info(answers ? 'The server is up.' : 'The server runs, but does not answer yet.')
    await setStatus(answers ? 'running' : 'unhealthy', {
      startedAt: startedAt(),
      ...(answers ? {} : { context: `The server has not answered within ${times.ready / 1000} seconds.` }),
    })
    if (!answers) void keepAsking(exit)
    void exit.promise.then(how => (exit === exited && !isOver() ? recover(how) : undefined))
  }

  async function startCandidate(timeoutMs: number): Promise<CandidateServer> {
    assertAlive()
    const exit = Promise.withResolvers<string>()
    exited = exit
    const backend = await server.open('create', exit.resolve).catch(explain)
    assertAlive()
    const checked = await unlessEnded(backend, exit, signal =>
      proxy.checkCandidate(backend, { timeoutMs, signal }),
    ).catch(async error => {
      assertAlive()
      throw isFailure(error, 'candidate_failed') ? await unfit(error.message) : error
    })
    candidate = checked
    let end: string | undefined
    void exit.promise.then(how => {
      end = how
    })
    return {
      async assertUp() {
        await check()
        assertAlive()
        if (end !== undefined) throw await endedEarly(end)
      },
      take(patience) {
        candidate = undefined
        up = true
        upSince = clock.now()
        void exit.promise.then(how => (exit === exited && !isOver() ? recover(how) : undefined))
        log.info('The server has taken the place of the one before.')
        return { drained: checked.promote(patience) }
      },
    }
  }

  function assertAlive(): void {
    if (isOver()) throw failures.start_cancelled({ name: config.name })
  }

  async function explain(error: unknown): Promise<never> {
    assertAlive()
    throw isFailure(error) ? error : await endedEarly(messageOf(error))
  }

  const lastLines = async () =>
    local ? await readLastLines(local.runtime, local.spec.name, local.secrets) : []
  const endedEarly = async (how: string) =>
    failures.instance_ended({ name: config.name, how, lines: await lastLines() })
  const unfit = async (problem: string) => failures.server_unfit({ problem, lines: await lastLines() })

  /** True when the server answers, false when it takes too long; fails when it ends meanwhile. */
  async function untilAnswers(backend: Backend, exit: PromiseWithResolvers<string>): Promise<boolean> {
    if (backend.kind === 'http' && backend.remote) return true
    return unlessEnded(backend, exit, signal =>
      proxy
        .ready({ timeoutMs: times.ready, signal })
        .then(() => (backend.kind === 'stdio' ? clock.delay(times.settle, signal) : undefined))
        .then(
          () => true,
          () => false,
        ),
    )
  }

  /** Does the work unless the server ends, or the lifecycle does; fails then. */
  async function unlessEnded<T>(
    backend: Backend,
    exit: PromiseWithResolvers<string>,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const done = new AbortController()
    const signal = AbortSignal.any([done.signal, ended.signal])
    const working = work(signal).then(
      value => ({ value }),
      error => ({ error }),
    )
    if (backend.kind === 'http') void checkUntil(signal)
    try {
      const outcome = await Promise.race([working, exit.promise.then(how => ({ how }))])
      assertAlive()
      if ('how' in outcome) throw await endedEarly(outcome.how)
      if ('error' in outcome) throw outcome.error
      return outcome.value
    } finally {
      done.abort()
    }
  }

  /** An instance may end before the watch on its runtime has begun. */
  async function checkUntil(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await check()
      await clock.delay(times.poll, signal).catch(() => undefined)
    }
  }

  async function keepAsking(exit: PromiseWithResolvers<string>): Promise<void> {
    while (exit === exited && !isOver()) {
      try {
        await proxy.ready({ timeoutMs: times.ready, signal: ended.signal })
        if (exit === exited) await setLater('running', { startedAt: startedAt() })
        return
      } catch {
        await clock.delay(times.poll, ended.signal).catch(() => undefined)
      }
    }
  }

  /** Compares the instance with what was brought up. True when nothing has changed. */
  async function check(): Promise<boolean> {
    const exit = exited
    const change = await server.changed()
    if (exit !== exited || isOver()) return false
    if (change !== undefined) exit.resolve(change)
    return change === undefined
  }

  async function recover(why: string): Promise<void> {
    up = false
    server.release()
    proxy.disconnect(why)
    log.warn(`The server ended: ${why}`)
    if (clock.now() - upSince >= times.stable) attempts = 0
    await retry({ why, mode: 'resume', away: 0 })
  }

  /** Tries until it is up, or has crashed too often. */
  async function retry(trouble: Trouble): Promise<void> {
    while (!isOver()) {
      if (trouble.final) return giveUp(trouble.why)
      if (attempts >= times.attempts) {
        return giveUp(`Given up after ${times.attempts} restarts: ${trouble.why}`)
      }
      await setLater(trouble.away ? 'unhealthy' : 'starting', { context: trouble.why })
      await pause(trouble.away ? trouble.away - 1 : attempts)
      if (isOver() || (await tryOnce(trouble))) return
    }
  }

  async function tryOnce(trouble: Trouble): Promise<boolean> {
    attempts++
    try {
      await enqueue(() => (isOver() ? Promise.resolve() : bringUp(trouble.mode)))
      return true
    } catch (error) {
      if (isOver()) return true
      server.release()
      const problem = await unreachable()
      trouble.why = problem ?? messageOf(error)
      trouble.final = isFailure(error, 'mount_through_link')
      proxy.disconnect(trouble.why)
      log.warn(`The server could not be brought up: ${trouble.why}`)
      if (problem !== undefined) {
        attempts-- // the workload is not to blame
        trouble.away++
      } else {
        trouble.away = 0
        if (attempts > 2) trouble.mode = 'create'
      }
      return false
    }
  }

  async function giveUp(why: string): Promise<void> {
    log.error(why)
    const lines = await lastLines()
    await enqueue(async () => {
      if (isOver()) return
      lifecycle.end('stop')
      await options.onGivenUp([why, ...lines].join('\n'))
    })
  }

  async function unreachable(): Promise<string | undefined> {
    if (!local) return undefined
    try {
      const probe = await local.runtime.probe(ended.signal)
      return probe.ok ? undefined : probe.problem
    } catch (error) {
      return messageOf(error)
    }
  }

  async function pause(step: number): Promise<void> {
    wake = new AbortController()
    const ms = times.delays[Math.min(step, times.delays.length - 1)] ?? 0
    await clock.delay(ms, AbortSignal.any([wake.signal, ended.signal])).catch(() => undefined)
  }

  /** The runtime itself may have brought it back, so there is nothing to wait for. */
  async function wakeIfRunning(): Promise<void> {
    const { signal } = wake
    const current = wake
    if (config.transport !== 'stdio' && !signal.aborted && (await server.runs().catch(() => false))) {
      current.abort()
    }
  }

  const lifecycle: Lifecycle = {
    isUp: () => up && !isOver(),
    endedBy: () => reason,
    begin: () => bringUp('create'),
    startCandidate,
    async resume(mode) {
      const trouble: Trouble = { why: 'it is being taken over', mode, away: 0 }
      if (!(await tryOnce(trouble))) void retry(trouble)
    },
    check() {
      void check()
      if (!up) void wakeIfRunning()
    },
    runtimeUnavailable(problem) {
      const isNews = !isRuntimeAway
      isRuntimeAway = true
      if (isNews && lifecycle.isUp()) void setLater('unhealthy', { context: problem, startedAt: startedAt() })
    },
    runtimeAvailable() {
      wake.abort()
      const wasAway = isRuntimeAway
      isRuntimeAway = false
      if (!lifecycle.isUp()) return
      void check().then(same =>
        same && wasAway ? setLater('running', { startedAt: startedAt() }) : undefined,
      )
    },
    retire() {
      reason ??= 'stop'
      up = false
      ended.abort()
    },
    end(why) {
      reason ??= why
      up = false
      candidate?.discard()
      ended.abort()
      server.release()
    },
  }
  return lifecycle
}
