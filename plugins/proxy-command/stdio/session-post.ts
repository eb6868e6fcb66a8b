import type { Dispatcher } from 'undici'
import { type ModernHeaders, modernVersionOf } from '../../../src/net/modern-headers.ts'
import type { Message } from '../../../src/net/rpc-message.ts'
import { headersOf, POST_HEADERS, type SessionState, type StreamableSession } from './streamable-session.ts'
import type { WorkloadRequests } from './workload-requests.ts'

/** How often a message is sent again in a new session. */
const TRIES = 3

/** What a message was responded with, and the session that it was sent in. */
export interface Posted {
  readonly response: Dispatcher.ResponseData
  readonly used: SessionState
}

/**
 * Makes a function that sends a message in the session; in a new one if the workload has lost it. `ready` resolves
 * when the session may be used.
 */
export function createSessionPost(
  requests: WorkloadRequests,
  session: StreamableSession,
  { modern, ready }: { modern: ModernHeaders; ready: () => Promise<void> },
): (message: Message, signal: AbortSignal) => Promise<Posted> {
  return async (message, signal) => {
    const version = modernVersionOf(message)
    const isOpening = message.kind === 'request' && message.method === 'initialize'
    for (let attempt = 1; ; attempt++) {
      if (!isOpening && version === undefined) await ready()
      const used: SessionState =
        isOpening || version !== undefined ? { id: undefined, version } : session.current
      const headers =
        version !== undefined && message.kind === 'request' ? modern.of(message, version) : headersOf(used)
      const response = await requests.send({
        method: 'POST',
        headers: { ...POST_HEADERS, ...headers },
        body: message.text,
        signal,
      })
      if (response.statusCode !== 404 || used.id === undefined || attempt === TRIES) return { response, used }
      await response.body.dump()
      if (!(await session.renew(used)))
        throw new Error('The workload lost the session and refuses a new one.')
    }
  }
}
