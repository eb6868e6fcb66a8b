import { setTimeout as delay } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { failures } from '../failures.ts'
import { probe } from './probe-server.ts'
import type { TargetPath } from './target-path.ts'

const FIRST_DELAY_MS = 100
const LONGEST_DELAY_MS = 2000

/** Probes until the server responds as an MCP server: after 100 ms, then twice as long each time, up to 2 s. */
export async function waitUntilReady(options: {
  agent: Dispatcher
  config: RunConfig
  target: () => TargetPath | undefined
  /** As of `probe`. */
  onRefused: () => void
  timeoutMs: number
  signal: AbortSignal
}): Promise<void> {
  const { target, timeoutMs, signal } = options
  const timeout = AbortSignal.timeout(timeoutMs)
  const either = AbortSignal.any([signal, timeout])
  let problem = 'it was not started'
  try {
    for (let wait = FIRST_DELAY_MS; ; wait = Math.min(wait * 2, LONGEST_DELAY_MS)) {
      const now = target()
      const found = now && (await probe({ ...options, target: now, signal: either }))
      if (now && found === undefined) return
      problem = found ?? problem
      await delay(wait, undefined, { signal: either })
    }
  } catch (error) {
    if (signal.aborted || !timeout.aborted) throw signal.aborted ? signal.reason : error
    throw failures.backend_not_ready({ name: options.config.name, seconds: timeoutMs / 1000, problem })
  }
}
