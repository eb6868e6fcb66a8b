import { checkFitness } from '../check-candidate.ts'
import { failures } from '../failures.ts'
import type { Connection } from './connection.ts'
import { errorText, type Response, readMessage, resultText } from './message.ts'
import { parseRaw } from './raw-json.ts'

/** A server process that is asked for what it must be able to do, before it takes another's place. */
export interface Audition {
  /** Takes one line of its output. */
  hear(line: string): void
  /** It has ended. */
  gone(reason: string): void
  /** Its answer to `initialize`, or undefined for one of 2026-07-28, which knows no such thing. Fails with `successor_unfit`. */
  run(options: { initialize: string; timeoutMs: number; signal: AbortSignal }): Promise<string | undefined>
}

const METHOD_NOT_FOUND = -32601

export function createAudition(name: string, peer: () => Connection): Audition {
  const waiting = new Map<string, (response: Response) => void>()
  const ended = Promise.withResolvers<never>()
  ended.promise.catch(() => undefined)
  let asked = 0
  const unfit = (problem: string) => failures.successor_unfit({ name, problem })

  async function ask(method: string, paramsText: string): Promise<Response> {
    asked += 1
    const id = JSON.stringify(`keelson-${asked}`)
    const answer = Promise.withResolvers<Response>()
    waiting.set(id, answer.resolve)
    peer().write(`{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${paramsText}}`)
    return answer.promise
  }

  return {
    hear(line) {
      const message = readMessage(line)
      if (message?.kind === 'response') waiting.get(message.idText ?? '')?.(message)
      // Nobody can be asked anything yet.
      else if (message?.kind === 'request') {
        const refusal = errorText(message.idText, METHOD_NOT_FOUND, 'Nobody is there yet')
        peer().write(message.method === 'ping' ? resultText(message.idText) : refusal)
      }
    },
    gone: reason => ended.reject(unfit(`ended before it answered: ${reason}`)),
    async run({ initialize, timeoutMs, signal }) {
      const limit = AbortSignal.timeout(timeoutMs)
      const over = AbortSignal.any([signal, limit])
      over.addEventListener('abort', () =>
        ended.reject(
          signal.aborted ? signal.reason : unfit(`did not answer within ${timeoutMs / 1000} seconds`),
        ),
      )
      signal.throwIfAborted()
      let result: string | undefined
      const fitness = checkFitness(
        name,
        {
          async ask(method, paramsText) {
            const { text, result: span } = await ask(method, paramsText)
            if (method === 'initialize' && span) result = text.slice(span.start, span.end)
            return parseRaw(text) as Awaited<ReturnType<Parameters<typeof checkFitness>[1]['ask']>>
          },
          async tell(method) {
            peer().write(JSON.stringify({ jsonrpc: '2.0', method }))
          },
          async close() {},
        },
        { initialize },
      )
      return (await Promise.race([fitness, ended.promise])) === 'initialized' ? result : undefined
    },
  }
}
