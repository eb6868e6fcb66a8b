import { type Response, readMessage } from '../../../../src/net/rpc-message.ts'
import type { CallFailure } from '../calls/call.ts'
import type { Calls } from '../calls/pending-calls.ts'

/** The outcome of a request that the bridge itself sent to the server. */
export type Answer =
  | { readonly kind: 'result'; readonly text: string }
  /** The error of the server, as the server wrote it. */
  | { readonly kind: 'error'; readonly text: string }
  | { readonly kind: 'failed'; readonly failure: CallFailure | 'overload' }

export type AskServer = (
  method: string,
  paramsText: string,
  options?: { timeoutMs?: number },
) => Promise<Answer>

/** Sends requests of the bridge itself, and those that several clients share. */
export function createAskServer(calls: Calls): AskServer {
  return (method, paramsText, options = {}) =>
    new Promise(resolve => {
      const request = readMessage(
        `{"jsonrpc":"2.0","id":0,"method":${JSON.stringify(method)},"params":${paramsText}}`,
      )
      if (request?.kind !== 'request') throw new Error(`not a request: ${method}`)
      const call = calls.start(request, {
        ...options,
        reply: {
          attended: () => true,
          related: () => false,
          keepAlive: () => {},
          respond: text => resolve(toAnswer(readMessage(text))),
          fail: failure => resolve({ kind: 'failed', failure }),
        },
      })
      if (!call) resolve({ kind: 'failed', failure: 'overload' })
    })
}

function toAnswer(message: ReturnType<typeof readMessage>): Answer {
  const { text, result, error } = message as Response
  const span = result ?? error
  return { kind: result ? 'result' : 'error', text: span ? text.slice(span.start, span.end) : '{}' }
}
