import { parseRaw } from '../../../../src/lib/raw-json.ts'
import { METHOD_NOT_FOUND } from '../../../../src/net/rpc-error-codes.ts'
import { errorText, type Response, readMessage, resultText } from '../../../../src/net/rpc-message.ts'
import { checkCandidate } from '../../check-candidate.ts'
import { failures } from '../../failures.ts'
import type { Connection } from './connection.ts'

/** The check of a server process before it replaces the running one. */
export interface StdioCandidate {
  /** Takes one line of the candidate's output. */
  receive(line: string): void
  /** The process has ended. */
  ended(reason: string): void
  /**
   * Returns the candidate's result of `initialize`; undefined for a server of 2026-07-28, which has no
   * `initialize`. Fails with `candidate_failed`.
   */
  check(options: { initialize: string; timeoutMs: number; signal: AbortSignal }): Promise<string | undefined>
}

export function createStdioCandidate(name: string, peer: () => Connection): StdioCandidate {
  const waiting = new Map<string, (response: Response) => void>()
  const stopped = Promise.withResolvers<never>()
  stopped.promise.catch(() => undefined)
  let asked = 0
  const failed = (problem: string) => failures.candidate_failed({ name, problem })

  async function ask(method: string, paramsText: string): Promise<Response> {
    asked += 1
    const id = JSON.stringify(`keelson-${asked}`)
    const answer = Promise.withResolvers<Response>()
    waiting.set(id, answer.resolve)
    peer().write(`{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${paramsText}}`)
    return answer.promise
  }

  return {
    receive(line) {
      const message = readMessage(line)
      if (message?.kind === 'response') waiting.get(message.idText ?? '')?.(message)
      // No client is connected to the candidate yet.
      else if (message?.kind === 'request') {
        const refusal = errorText(message.idText, METHOD_NOT_FOUND, 'No client is connected yet')
        peer().write(message.method === 'ping' ? resultText(message.idText) : refusal)
      }
    },
    ended: reason => stopped.reject(failed(`ended before it responded: ${reason}`)),
    async check({ initialize, timeoutMs, signal }) {
      const limit = AbortSignal.timeout(timeoutMs)
      const over = AbortSignal.any([signal, limit])
      over.addEventListener('abort', () =>
        stopped.reject(
          signal.aborted ? signal.reason : failed(`did not respond within ${timeoutMs / 1000} seconds`),
        ),
      )
      signal.throwIfAborted()
      let result: string | undefined
      const outcome = checkCandidate(
        name,
        {
          async ask(method, paramsText) {
            const { text, result: span } = await ask(method, paramsText)
            if (method === 'initialize' && span) result = text.slice(span.start, span.end)
            return parseRaw(text) as Awaited<ReturnType<Parameters<typeof checkCandidate>[1]['ask']>>
          },
          async notify(method) {
            peer().write(JSON.stringify({ jsonrpc: '2.0', method }))
          },
          async close() {},
        },
        { initialize },
      )
      return (await Promise.race([outcome, stopped.promise])) === 'initialized' ? result : undefined
    },
  }
}
