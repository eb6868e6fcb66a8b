import { clean } from '../../src/lib/printable.ts'
import type { Log } from '../../src/log.ts'
import { createThrottledLog } from '../../src/throttled-log.ts'

/** At most one line in this time for each webhook and kind, in milliseconds. */
const LOG_MS = 1000

/** What the log is told of the webhooks of one workload. */
export interface WebhookLog {
  denied(webhook: string, method: string, why: string): void
  failed(webhook: string, problem: string, isIgnored: boolean): void
}

export function createWebhookLog(log: Log): WebhookLog {
  const warn = createThrottledLog(log, { everyMs: LOG_MS })
  return {
    denied(webhook, method, why) {
      const shown = clean(method).slice(0, 100)
      warn(`The webhook "${webhook}" denies ${shown}${why ? `: ${why}` : ''}.`, `denied ${webhook}`)
    },
    failed(webhook, problem, isIgnored) {
      const then = isIgnored ? 'what clients send passes without it' : 'what clients send is refused'
      warn(`The webhook "${webhook}" fails: ${problem}; ${then}.`, `failed ${webhook}`)
    },
  }
}
