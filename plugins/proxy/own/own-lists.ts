import type { RequestListener } from 'node:http'
import type { ListedTool } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { type AskOwn, listTools } from './list-tools.ts'

/** How long the server may take for all of it, in milliseconds. */
const TIMEOUT_MS = 10_000

/** As `MiddlewareContext.listTools`. */
export async function listOwnTools(
  options: {
    config: RunConfig
    /** Of a stdio server. */
    askOwn: AskOwn | undefined
    /** Handles requests to an HTTP server. */
    listener: RequestListener
  },
  given: { signal?: AbortSignal },
): Promise<readonly ListedTool[] | undefined> {
  const signal = AbortSignal.any([...(given.signal ? [given.signal] : []), AbortSignal.timeout(TIMEOUT_MS)])
  if (options.askOwn) return unlessAborted(listTools(options.askOwn), signal)
  const { withOwnSession } = await import('./own-session.ts')
  return unlessAborted(withOwnSession({ ...options, signal }, listTools), signal)
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(new Error('it does not respond'))
  work.catch(() => undefined)
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort)
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
