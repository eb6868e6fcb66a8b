import { setTimeout as delay } from 'node:timers/promises'
import { type Message, paramText, readMessage } from '../../../src/net/rpc-message.ts'
import type { Call } from './calls.ts'
import { describeRefusal, eventsOf, isSuccess, refusalText } from './response-messages.ts'
import { createSseConnection } from './sse-connection.ts'
import type { Upstream, UpstreamOptions } from './upstream.ts'
import type { WorkloadAddress } from './workload-address.ts'
import { describeProblem, isUnsent, LOST } from './workload-requests.ts'

const RETRY_MS = 100
const PATIENCE_MS = 60_000

/** Carries messages over HTTP+SSE (MCP 2024-11-05), for workloads with the proxy mode `sse`. */
export function createSseUpstream(options: UpstreamOptions & { address: WorkloadAddress }): Upstream {
  const { requests, client, calls, log } = options
  const closing = new AbortController()
  const { signal } = closing
  /** Calls that the workload has accepted on this connection. */
  const sent = new Set<Call>()

  const post = (url: URL, body: string) =>
    requests.send({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body,
      signal,
      patienceMs: 0,
    })

  const connection = createSseConnection({
    ...options,
    post,
    signal,
    onLost() {
      for (const call of sent) void client.fail(call, LOST)
      sent.clear()
    },
  })

  /** Posts to the endpoint; again after a pause while nothing listens there, as another one will be announced. */
  async function postToEndpoint(text: string, call: Call | undefined) {
    const deadline = Date.now() + PATIENCE_MS
    for (;;) {
      const url = await connection.endpoint()
      const { generation } = connection
      try {
        const response = await post(url, text)
        if (generation !== connection.generation) throw new Error(LOST)
        if (call && calls.find(call.idText) === call) sent.add(call)
        return response
      } catch (error) {
        if (!isUnsent(error) || Date.now() > deadline) throw error
        await delay(RETRY_MS, undefined, { signal })
      }
    }
  }

  async function sendTo(message: Message, call: Call | undefined): Promise<void> {
    const response = await postToEndpoint(message.text, call)
    if (!isSuccess(response)) {
      if (call)
        return client.respond(call, await refusalText(call.idText, response), {
          isLost: response.statusCode >= 500,
        })
      log.warn(`The workload did not take a message: ${await describeRefusal(response)}`)
      return
    }
    // Responses come on the event stream; a server that puts them here is taken at its word.
    for await (const { data } of eventsOf(response)) {
      if (data && readMessage(data)) await connection.receive(data)
    }
  }

  return {
    async send(message, call) {
      try {
        await sendTo(message, call)
      } catch (error) {
        if (call) await client.fail(call, describeProblem(error))
        else if (!signal.aborted) log.warn(`The workload did not take a message: ${describeProblem(error)}`)
      }
      if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') return
      const id = paramText(message, 'requestId')
      if (id !== undefined) calls.settle(id)
    },
    onResponse(call, text) {
      sent.delete(call)
      return text
    },
    async close() {
      closing.abort()
      await requests.close()
    },
  }
}
