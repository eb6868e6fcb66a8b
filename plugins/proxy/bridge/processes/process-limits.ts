import { type Refusal, unavailable } from '../../request-refusal.ts'
import type { SessionOwner } from '../../session-owner.ts'

/** How many processes clients may have. */
export interface ProcessLimits {
  /** Of all clients of the workload. */
  readonly max: number
  /** Of one caller who has logged in. */
  readonly maxPerCaller: number
  /** Processes that are started ahead, so that the next client need not wait. */
  readonly spares: number
}

/** So many processes of one caller may end early within `LOOP_MS`; then the next one has to wait. */
const MAX_EARLY_ENDS = 5
const LOOP_MS = 60_000
const MAX_CALLERS = 10_000

/** Tells when processes of one caller end again and again, so that no client makes the host start them for ever. */
export interface CrashLoops {
  /** A process could not be started, or ended by itself after `ranMs`. */
  note(owner: SessionOwner, ranMs: number): void
  /** Seconds until the next process may start; undefined: it may start now. */
  waitSeconds(owner: SessionOwner): number | undefined
}

export function createCrashLoops(now: () => number): CrashLoops {
  const ends = new Map<SessionOwner, number[]>()
  return {
    note(owner, ranMs) {
      if (ranMs >= LOOP_MS) return
      const times = [...(ends.get(owner) ?? []), now()].slice(-MAX_EARLY_ENDS)
      ends.delete(owner)
      ends.set(owner, times)
      if (ends.size > MAX_CALLERS) for (const oldest of ends.keys()) return void ends.delete(oldest)
    },
    waitSeconds(owner) {
      const times = ends.get(owner) ?? []
      const [first = 0] = times
      const left = first + LOOP_MS - now()
      return times.length === MAX_EARLY_ENDS && left > 0 ? Math.ceil(left / 1000) : undefined
    },
  }
}

export const refusals = {
  allInUse: (max: number, idText: string | undefined): Refusal =>
    unavailable(
      `All ${max} processes of this server are in use: end a client, or set a higher --max-processes`,
      { idText },
      60,
    ),
  allOfCallerInUse: (max: number, idText: string | undefined): Refusal =>
    unavailable(
      `You use ${max} processes of this server, which is the most: end a client, or set a higher --max-processes-per-caller`,
      { idText },
      60,
    ),
  endsAgainAndAgain: (seconds: number, idText: string | undefined): Refusal =>
    unavailable(
      `The server has ended ${MAX_EARLY_ENDS} times within a minute: read \`keelson logs --proxy\`, and try again later`,
      { idText },
      seconds,
    ),
  notStarted: (idText: string | undefined): Refusal =>
    unavailable('No process of the server could be started: read `keelson logs --proxy`', { idText }, 5),
}
