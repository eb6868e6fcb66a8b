import { clean } from '../../src/lib/printable.ts'
import type { Log } from '../../src/log.ts'

/** At most one line in this time for each webhook and kind, in milliseconds. */
const LOG_MS = 1000

/** What the log is told of the webhooks of one workload. */
export interface WebhookLog {
  denied(webhook: string, method: string, why: string): void
  failed(webhook: string, problem: string, isIgnored: boolean): void
}

/** Logs calmly: a flood is one line now and then, which says how many there were. */
export function createWebhookLog(log: Log, now: () => number = Date.now): WebhookLog {
  const kinds = new Map<string, { loggedAt: number; since: number }>()

  function note(kind: string, text: string): void {
    const seen = kinds.get(kind) ?? { loggedAt: Number.NEGATIVE_INFINITY, since: 0 }
    kinds.set(kind, seen)
    seen.since += 1
    if (now() - seen.loggedAt < LOG_MS) return
    log.warn(text, { messages: seen.since })
    seen.loggedAt = now()
    seen.since = 0
  }

  return {
    denied(webhook, method, why) {
      const shown = clean(method).slice(0, 100)
      note(`denied ${webhook}`, `The webhook "${webhook}" denies ${shown}${why ? `: ${why}` : ''}.`)
    },
    failed(webhook, problem, isIgnored) {
      const then = isIgnored ? 'what clients send passes without it' : 'what clients send is refused'
      note(`failed ${webhook}`, `The webhook "${webhook}" fails: ${problem}; ${then}.`)
    },
  }
}
