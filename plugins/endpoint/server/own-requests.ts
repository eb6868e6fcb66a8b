import { parseRaw } from '../../../src/lib/raw-json.ts'
import { type Request, type Response, readMessage } from '../../../src/net/rpc-message.ts'
import type { ServerRequests } from './server-requests.ts'

/** Requests of the endpoint itself to its client. */
export interface OwnRequests {
  /** Returns the result. Rejects with the client's error, and with the reason of the signal. */
  ask(method: string, params: string, signal: AbortSignal): Promise<unknown>
  /** A response of the client to one of them; raw text. */
  hear(text: string): void
}

/** In `ServerRequests`, the endpoint itself: no server has an empty name. */
export const OWN = ''

export function createOwnRequests({
  requests,
  send,
}: {
  requests: Pick<ServerRequests, 'pass' | 'cancel'>
  /** Sends a message to the client. */
  send: (text: string) => void
}): OwnRequests {
  const waiting = new Map<string, PromiseWithResolvers<unknown>>()
  let count = 0

  function cancel(id: string): void {
    const params = `{"requestId":${id},"reason":"it is not waited for any more"}`
    const text = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`
    const notification = readMessage(text)
    const passed = notification && requests.cancel(OWN, notification)
    if (passed !== undefined) send(passed)
  }

  return {
    async ask(method, params, signal) {
      signal.throwIfAborted()
      count += 1
      const id = String(count)
      const request = readMessage(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`)
      const passed = requests.pass(OWN, request as Request)
      if (passed === undefined) throw new Error('too many requests wait for the client')
      const response = Promise.withResolvers<unknown>()
      function abort(): void {
        cancel(id)
        response.reject(signal.reason)
      }
      waiting.set(id, response)
      signal.addEventListener('abort', abort, { once: true })
      send(passed)
      try {
        return await response.promise
      } finally {
        waiting.delete(id)
        signal.removeEventListener('abort', abort)
      }
    },
    hear(text) {
      const { idText, result, error } = readMessage(text) as Response
      const value = parseRaw(text.slice((result ?? error)?.start, (result ?? error)?.end))
      const asked = waiting.get(idText ?? '')
      if (result) asked?.resolve(value)
      else asked?.reject(new Error(`the client cannot be asked: ${(value as { message?: unknown }).message}`))
    },
  }
}
