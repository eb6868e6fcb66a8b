import type { EndpointSettings } from '../section.ts'

/** How long calls of servers may take. */
export interface CallLimits {
  /** Without progress, in seconds. */
  readonly silent: number
  /** With progress, in seconds. */
  readonly most: number
}

const DEFAULT_SECONDS = 600
/** So many times the silent time is the most, so that no call goes on for ever by its progress. */
const MOST_TIMES = 10

export function limitsOf(
  { call_timeout: all, call_timeouts: single }: Pick<EndpointSettings, 'call_timeout' | 'call_timeouts'>,
  server: string,
): CallLimits {
  const silent = single?.[server] ?? all ?? DEFAULT_SECONDS
  return { silent, most: silent * MOST_TIMES }
}

/** The time that one call may take. */
export interface Deadline {
  /** Begins the time without progress anew. */
  progress(): void
  stop(): void
}

/** @param onLate called once with the seconds that have passed, unless it is stopped before */
export function startDeadline({ silent, most }: CallLimits, onLate: (seconds: number) => void): Deadline {
  const late = (seconds: number) => () => {
    stop()
    onLate(seconds)
  }
  const whole = setTimeout(late(most), most * 1000).unref()
  const quiet = setTimeout(late(silent), silent * 1000).unref()
  function stop(): void {
    clearTimeout(whole)
    clearTimeout(quiet)
  }
  return { progress: () => void quiet.refresh(), stop }
}
