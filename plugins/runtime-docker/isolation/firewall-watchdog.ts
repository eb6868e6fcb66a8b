import type { Log } from '../../../src/log.ts'
import type { Firewall, FirewallRule } from './firewall.ts'

const EVERY_MS = 10_000

/** Keeps firewall rules in place while this process is responsible for them. */
export interface FirewallWatchdog {
  add(rule: FirewallRule): void
  delete(network: string): void
}

/** Time between checks, in milliseconds. Rules that another program flushed are set again at the next check. */
export function createFirewallWatchdog(options: {
  firewall: Firewall
  log: Log | undefined
  everyMs?: number
}): FirewallWatchdog {
  const { firewall, log, everyMs = EVERY_MS } = options
  const rules = new Map<string, FirewallRule>()
  let isScheduled = false

  async function look(): Promise<void> {
    for (const rule of await firewall.missing([...rules.values()])) {
      if (!rules.has(rule.network)) continue
      const problem = await firewall.apply(rule)
      const subject = { network: rule.network }
      if (problem === undefined)
        log?.warn('The firewall rules of a network were gone; they are back.', subject)
      else log?.error(`The firewall rules of a network are gone: ${problem}`, subject)
      // Its network may have been removed in between.
      if (!rules.has(rule.network)) await firewall.remove(rule.network)
    }
  }

  function schedule(): void {
    if (isScheduled || rules.size === 0) return
    isScheduled = true
    setTimeout(async () => {
      await look().catch(() => undefined) // a firewall that cannot be asked is asked again
      isScheduled = false
      schedule()
    }, everyMs).unref()
  }

  return {
    add(rule) {
      rules.set(rule.network, rule)
      schedule()
    },
    delete: network => void rules.delete(network),
  }
}
