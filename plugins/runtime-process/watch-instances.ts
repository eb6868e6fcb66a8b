import { setTimeout as delay } from 'node:timers/promises'
import type { Instance, InstanceEvent } from '../../src/contracts/runtime.ts'

const POLL_MS = 1000

/** Wakes the code that waits for a change. */
export interface Bell {
  ring(): void
  /** Resolves at the next ring. */
  next(): Promise<void>
}

export function createBell(): Bell {
  let { promise, resolve } = Promise.withResolvers<void>()
  return {
    ring() {
      resolve()
      ;({ promise, resolve } = Promise.withResolvers<void>())
    },
    next: () => promise,
  }
}

/**
 * Yields what changed between two readings. A reading follows at once when the bell rings, which it does for
 * instances of this process, and else every second, since the end of another process's child can only be
 * polled. The first reading is taken at the call, and not when the caller first waits.
 */
export function watchInstances(options: {
  list: () => Promise<Instance[]>
  bell: Bell
  signal: AbortSignal
}): AsyncIterable<InstanceEvent> {
  const { list, bell, signal } = options
  const look = async () => new Map((await list()).map(instance => [instance.name, instance]))
  let rung = bell.next()
  const first = look()
  first.catch(() => undefined) // it is awaited below, maybe much later
  const aborted = new Promise<void>(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

  async function* events(): AsyncGenerator<InstanceEvent> {
    let before = await first
    while (!signal.aborted) {
      const tick = new AbortController()
      await Promise.race([
        rung,
        aborted,
        delay(POLL_MS, undefined, { signal: tick.signal, ref: false }).catch(() => undefined),
      ])
      tick.abort()
      if (signal.aborted) return
      rung = bell.next()
      const now = await look()
      yield* compare(before, now)
      before = now
    }
  }
  return events()
}

function* compare(
  before: ReadonlyMap<string, Instance>,
  now: ReadonlyMap<string, Instance>,
): Generator<InstanceEvent> {
  for (const [name, was] of before) {
    const is = now.get(name)
    const another = is?.id !== was.id
    const ended = was.state === 'running' && (another || isAnotherLife(was, is) || is?.state !== 'running')
    if (ended) {
      const exitCode = another ? undefined : is?.state === 'exited' ? is.exitCode : undefined
      yield { kind: 'exited', name, ...(exitCode === undefined ? {} : { exitCode }) }
    }
    if (another) yield { kind: 'removed', name }
  }
  for (const [name, is] of now) {
    const was = before.get(name)
    if (was && was.id === is.id && !isAnotherLife(was, is)) continue
    if (is.startedAt === undefined) continue
    yield { kind: 'started', name }
    // It was created and removed between two readings.
    if (is.state === 'exited') {
      yield { kind: 'exited', name, ...(is.exitCode === undefined ? {} : { exitCode: is.exitCode }) }
    }
  }
}

const isAnotherLife = (was: Instance, is: Instance | undefined): boolean =>
  was.startedAt?.getTime() !== is?.startedAt?.getTime()
