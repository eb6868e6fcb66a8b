import type { SetStatus } from './status-writer.ts'

/** Reports a running workload as unhealthy while its runtime does not respond. */
export interface RuntimeAvailability {
  unavailable(problem: string): void
  available(): Promise<void>
}

export function createRuntimeAvailability(options: {
  isUp: () => boolean
  startedAt: () => Date
  /** True when the instance is the one that was started. */
  check: () => Promise<boolean>
  setLater: SetStatus
}): RuntimeAvailability {
  const { isUp, startedAt, check, setLater } = options
  let isAway = false
  return {
    unavailable(problem) {
      if (!isAway && isUp()) void setLater('unhealthy', { context: problem, startedAt: startedAt() })
      isAway = true
    },
    async available() {
      const wasAway = isAway
      isAway = false
      const same = isUp() && (await check())
      if (same && wasAway) await setLater('running', { startedAt: startedAt() })
    },
  }
}
