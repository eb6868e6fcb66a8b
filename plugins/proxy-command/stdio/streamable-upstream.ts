import { setTimeout as delay } from 'node:timers/promises'
import { createModernHeaders } from '../../../src/net/modern-headers.ts'
import { type Message, paramText, type Request } from '../../../src/net/rpc-message.ts'
import type { Call } from './calls.ts'
import { createRelayResponse } from './relay-response.ts'
import { describeRefusal, isSuccess, refusalText } from './response-messages.ts'
import { createSessionEvents } from './session-events.ts'
import { agreedVersion } from './session-memory.ts'
import { createSessionPost } from './session-post.ts'
import { createStreamableSession, headersOf } from './streamable-session.ts'
import type { Upstream, UpstreamOptions } from './upstream.ts'
import { describeProblem } from './workload-requests.ts'

/** How long a cancellation waits for the request that it cancels to be accepted, in milliseconds. */
const ACCEPT_MS = 250
const END_SESSION_MS = 1000

/** Carries messages over streamable HTTP, of both eras. */
export function createStreamableUpstream(options: UpstreamOptions): Upstream {
  const { requests, client, calls, memory, log } = options
  const closing = new AbortController()
  const modern = createModernHeaders()
  const session = createStreamableSession({
    ...options,
    signal: closing.signal,
    onRenewed: () => events.listen(),
  })
  const events = createSessionEvents(options, () => session)

  const post = createSessionPost(requests, session, { modern, ready: events.ready })
  const relay = createRelayResponse(options, session)
  const onInvalid = (tool: string, problem: string) =>
    log.warn(`The tool "${tool}" is left out, because its x-mcp-header is not valid: ${problem}.`)

  async function exchange(call: Call, request: Request): Promise<void> {
    const { signal } = call.abort
    try {
      const { response, used } = await post(request, AbortSignal.any([signal, closing.signal]))
      call.accepted.resolve()
      if (!isSuccess(response))
        return await client.respond(call, await refusalText(call.idText, response), {
          isLost: response.statusCode >= 500,
        })
      if (call.method === 'initialize') session.opened(response)
      await relay(call, response, used)
    } catch (error) {
      if (!signal.aborted) await client.fail(call, describeProblem(error))
    } finally {
      calls.settle(call.idText, call)
    }
  }

  /** Sends what has no response. */
  async function tell(message: Message): Promise<void> {
    try {
      const { response } = await post(message, closing.signal)
      if (!isSuccess(response)) throw new Error(await describeRefusal(response))
      await response.body.dump()
    } catch (error) {
      if (!closing.signal.aborted) log.warn(`The workload did not take a message: ${describeProblem(error)}`)
    }
  }

  /** In 2026-07-28, closing the stream of a request cancels it. */
  async function cancel(message: Message, call: Call): Promise<void> {
    if (!call.modern) {
      await Promise.race([call.accepted.promise, delay(ACCEPT_MS)])
      await tell(message)
    }
    calls.settle(call.idText, call)
    call.abort.abort()
  }

  return {
    async send(message, call) {
      if (message.kind === 'request' && call) {
        void exchange(call, message)
        return
      }
      const isCancel = message.kind === 'notification' && message.method === 'notifications/cancelled'
      const id = isCancel ? paramText(message, 'requestId') : undefined
      const cancelled = id === undefined ? undefined : calls.find(id)
      if (cancelled) return cancel(message, cancelled)
      await tell(message)
      if (message.kind === 'notification' && message.method === 'notifications/initialized') events.listen()
    },
    onResponse({ method, modern: isModern }, text) {
      if (method === 'initialize') session.agreed(agreedVersion(text))
      return method === 'tools/list' && isModern ? modern.learn(text, onInvalid) : text
    },
    async close() {
      events.close()
      const { id } = session.current
      if (id !== undefined && memory.known) {
        const signal = AbortSignal.timeout(END_SESSION_MS)
        const headers = headersOf(session.current)
        await requests.send({ method: 'DELETE', headers, signal, patienceMs: 0 }).catch(() => undefined)
      }
      closing.abort()
      await requests.close()
    },
  }
}
