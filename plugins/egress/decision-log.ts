import type { Log } from '../../src/log.ts'
import type { Decision } from './decision.ts'

const WINDOW_MS = 60_000
const MAX_LINES = 100

/** Writes decisions of one workload to its log. */
export interface DecisionLog {
  /** Returns whether a line was written; a repeated denial is counted instead. */
  record(decision: Decision): boolean
  /** Writes the counts that are still open. */
  close(): void
}

/**
 * One line for each denial; the same again within a minute only adds to a count that is written at
 * its end, and so does what goes beyond 100 lines a minute. A server that tries in a loop, over
 * however many names, cannot fill the disk. What is allowed is written at debug level.
 */
export function createDecisionLog(options: { log: Log; windowMs?: number; maxLines?: number }): DecisionLog {
  const { log, windowMs = WINDOW_MS, maxLines = MAX_LINES } = options
  const seen = new Map<string, { fields: Record<string, unknown>; repeats: number }>()
  let beyond = 0
  let timer: NodeJS.Timeout | undefined

  function summarise(): void {
    clearTimeout(timer)
    timer = undefined
    for (const { fields, repeats } of seen.values()) {
      if (repeats) log.warn('egress denied again', { ...fields, times: repeats })
    }
    if (beyond) log.warn('egress denied to many destinations', { times: beyond })
    seen.clear()
    beyond = 0
  }

  return {
    record({ allowed, host, port, rule, reason, addresses, add }) {
      if (allowed) {
        log.debug('egress allowed', { host, port, rule, addresses })
        return false
      }
      timer ??= setTimeout(summarise, windowMs).unref()
      const key = `${rule} ${port} ${host}`
      const known = seen.get(key)
      if (known) known.repeats++
      else if (seen.size >= maxLines) beyond++
      else {
        const fields = { host, port, rule }
        seen.set(key, { fields, repeats: 0 })
        log.warn('egress denied', { ...fields, reason, ...(add ? { add } : {}) })
        return true
      }
      return false
    },
    close: summarise,
  }
}
