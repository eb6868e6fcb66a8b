import type { InstanceEvent, Runtime } from '../../../src/contracts/runtime.ts'
import { messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import type { Clock } from './clock.ts'

/** Watches one runtime for all workloads in it. */
export interface RuntimeWatch {
  close(): void
}

export interface RuntimeWatchOptions {
  readonly runtime: Runtime
  readonly clock: Clock
  readonly delays: readonly number[]
  readonly log: Log
  readonly onEvent: (event: Exclude<InstanceEvent, { kind: 'gone' }>) => void
  /** The runtime does not respond. */
  readonly onUnavailable: (problem: string) => void
  /** It responds again, and events may have been missed. */
  readonly onAvailable: () => void
}

/**
 * Follows a runtime's events, and starts again when they end, because the engine or only the watch has ended.
 * One watch and at most one timer, however many workloads there are.
 */
export function createRuntimeWatch(options: RuntimeWatchOptions): RuntimeWatch {
  const { runtime, clock, delays, log, onEvent, onUnavailable, onAvailable } = options
  const ended = new AbortController()
  const { signal } = ended
  let failures = 0

  async function pause(): Promise<void> {
    const ms = delays[Math.min(failures++, delays.length - 1)] ?? 1000
    await clock.delay(ms, signal).catch(() => undefined)
  }

  async function follow(again: boolean): Promise<void> {
    const began = clock.now()
    const events = runtime.watch(signal)[Symbol.asyncIterator]()
    let next = events.next() // the watch begins before workloads are looked at, so that nothing falls between
    if (again) onAvailable()
    for (;;) {
      const { done, value } = await next
      if (done || value.kind === 'gone') break
      if (clock.now() - began > 60_000) failures = 0
      onEvent(value)
      next = events.next()
    }
    await events.return?.()
  }

  async function watch(): Promise<void> {
    for (let round = 0; !signal.aborted; round++) {
      try {
        await follow(round > 0)
      } catch (error) {
        log.debug(`The watch on ${runtime.name} ended: ${messageOf(error)}`)
      }
      if (signal.aborted) return
      await pause()
      await untilAvailable()
    }
  }

  async function untilAvailable(): Promise<void> {
    for (;;) {
      if (signal.aborted) return
      const probe = await runtime
        .probe(signal)
        .catch(error => ({ ok: false as const, problem: messageOf(error) }))
      if (probe.ok || signal.aborted) return
      onUnavailable(probe.problem)
      await pause()
    }
  }

  void watch()
  return { close: () => ended.abort() }
}
