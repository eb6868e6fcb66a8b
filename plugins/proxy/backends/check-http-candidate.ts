import { setTimeout as delay } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { isFailure, messageOf } from '../../../src/errors.ts'
import { checkCandidate, type GreetedAs } from '../check-candidate.ts'
import { failures } from '../failures.ts'
import { effectiveMode, isSaidStateless } from '../section.ts'
import { openSseProbe, openStreamableProbe } from './probe-clients.ts'
import type { TargetPath } from './target-path.ts'

const FIRST_DELAY_MS = 100
const LONGEST_DELAY_MS = 1000

interface CheckOptions {
  readonly agent: Dispatcher
  readonly config: RunConfig
  readonly target: TargetPath
  readonly signal: AbortSignal
}

/**
 * Checks a candidate, and repeats the check while the server does not respond. A response that is an error
 * ends the check at once. Fails with `candidate_failed`.
 */
export async function checkHttpCandidate(options: CheckOptions & { timeoutMs: number }): Promise<GreetedAs> {
  const { config, timeoutMs, signal } = options
  const limit = AbortSignal.timeout(timeoutMs)
  const either = AbortSignal.any([signal, limit])
  let problem = 'it does not accept connections'
  for (let wait = FIRST_DELAY_MS; ; wait = Math.min(wait * 2, LONGEST_DELAY_MS)) {
    try {
      return await askOnce({ ...options, signal: either })
    } catch (error) {
      if (isFailure(error)) throw error
      if (!either.aborted) problem = describe(error)
    }
    await delay(wait, undefined, { signal: either }).catch(() => undefined)
    signal.throwIfAborted()
    if (limit.aborted) {
      const text = `did not respond within ${timeoutMs / 1000} seconds: ${problem}`
      throw failures.candidate_failed({ name: config.name, problem: text })
    }
  }
}

async function askOnce(options: CheckOptions): Promise<GreetedAs> {
  const { name } = options.config
  const over = new AbortController() // closes what is still open, e.g. an event stream
  const open = effectiveMode(options.config) === 'sse' ? openSseProbe : openStreamableProbe
  try {
    const client = await open({ ...options, signal: AbortSignal.any([options.signal, over.signal]) })
    const kind = await checkCandidate(name, client, { stateless: isSaidStateless(options.config) })
    await client.close()
    return kind
  } finally {
    over.abort()
  }
}

function describe(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ECONNREFUSED') return 'it does not accept connections'
  if (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET') return 'it broke off the connection'
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return 'it accepted a request but did not respond'
  }
  return messageOf(error)
}
