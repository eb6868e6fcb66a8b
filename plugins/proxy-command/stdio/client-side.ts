import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { Log } from '../../../src/log.ts'
import { SERVER_ERROR } from '../../../src/net/rpc-error-codes.ts'
import { errorText, onOneLine, readMessage } from '../../../src/net/rpc-message.ts'
import type { Call, Calls } from './calls.ts'

/** The client's side of `proxy stdio`: what is written to standard output. */
export interface ClientSide {
  /** Writes a message of the workload. Resolves when the client takes more. What is not a message is logged. */
  deliver(text: string): Promise<void>
  /** Responds to a call with an error, unless it has ended. */
  fail(call: Pick<Call, 'idText'>, message: string): Promise<void>
  /** Writes a response to a call, unless it has ended. `isLost`: the server has not responded. */
  respond(call: Pick<Call, 'idText'>, text: string, options?: { isLost?: boolean }): Promise<void>
  /** Writes a message of keelson itself. */
  write(text: string): Promise<void>
}

export function createClientSide(options: {
  stdout: Writable
  calls: Calls
  log: Log
  /** Called with each response; returns what is written. */
  onResponse: (call: Call, text: string) => string
  /** Called before an error is written to which the server has not contributed. */
  onLost?: ((idText: string) => void) | undefined
}): ClientSide {
  const { stdout, calls, log, onResponse, onLost } = options

  async function write(text: string): Promise<void> {
    if (!stdout.write(`${onOneLine(text)}\n`, 'latin1')) await once(stdout, 'drain')
  }

  async function respond(
    { idText }: Pick<Call, 'idText'>,
    text: string,
    { isLost = false } = {},
  ): Promise<void> {
    if (!calls.settle(idText)) return
    if (isLost) onLost?.(idText)
    await write(text)
  }

  return {
    write,
    async deliver(text) {
      const message = readMessage(text)
      if (!message) {
        log.warn('The workload sent something that is not one JSON-RPC message; it was dropped.')
        return
      }
      if (message.kind === 'response') {
        const call = message.idText === undefined ? undefined : calls.settle(message.idText)
        if (!call) return log.debug('dropped a response that nobody waits for', { id: message.idText })
        return write(onResponse(call, text))
      }
      await write(text)
    },
    respond,
    fail: (call, message) => respond(call, errorText(call.idText, SERVER_ERROR, message), { isLost: true }),
  }
}
