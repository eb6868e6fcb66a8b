/** Holds requests back while there is no server behind the proxy. */
export interface Gate {
  /** Why it is shut; undefined while it is open. */
  readonly reason: string | undefined
  open(): void
  shut(reason: string): void
  /** Resolves true once it is open; false after the wait, when too many wait already, or when `signal` aborts. */
  wait(signal: AbortSignal): Promise<boolean>
}

export function createGate({ waitMs, maxWaiting }: { waitMs: number; maxWaiting: number }): Gate {
  let reason: string | undefined = 'the server is starting'
  const waiting = new Set<(opened: boolean) => void>()
  return {
    get reason() {
      return reason
    },
    open() {
      reason = undefined
      for (const settle of [...waiting]) settle(true)
    },
    shut(why) {
      reason = why
    },
    async wait(signal) {
      if (reason === undefined) return true
      if (waiting.size >= maxWaiting || signal.aborted) return false
      return new Promise(resolve => {
        const settle = (opened: boolean) => {
          clearTimeout(timer)
          signal.removeEventListener('abort', giveUp)
          waiting.delete(settle)
          resolve(opened)
        }
        const giveUp = () => settle(false)
        const timer = setTimeout(giveUp, waitMs)
        signal.addEventListener('abort', giveUp)
        waiting.add(settle)
      })
    },
  }
}
