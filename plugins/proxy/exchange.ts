import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Exchange } from '../../src/contracts/pipeline.ts'
import { isMessage, type JsonRpcMessage } from '../../src/lib/json-rpc.ts'
import { type BodyRules, readBody } from './body.ts'

/** Makes the exchange of one request. Nothing is read, parsed or listened to before somebody asks for it. */
export function createExchange(
  request: IncomingMessage,
  response: ServerResponse,
  rules: BodyRules,
): Exchange {
  let abort: AbortController | undefined
  let reading: Promise<Buffer> | undefined
  let buffered: Buffer | undefined
  let parsed: { message: JsonRpcMessage | undefined } | undefined

  const exchange: Exchange = {
    request,
    response,
    url: request.url ?? '/',
    get signal() {
      if (!abort) {
        const controller = new AbortController()
        abort = controller
        const gone = () => {
          if (!response.writableFinished) controller.abort()
        }
        if (response.destroyed) gone()
        else response.once('close', gone)
      }
      return abort.signal
    },
    get buffered() {
      return buffered
    },
    async body() {
      if (buffered) return buffered
      reading ??= readBody(request, rules)
      const body = await reading
      buffered ??= body
      return buffered
    },
    async message() {
      if (!parsed) {
        const body = buffered ?? (await exchange.body())
        parsed = { message: parseMessage(body) }
      }
      return parsed.message
    },
    replaceBody(body) {
      buffered = body
      parsed = undefined
    },
  }
  return exchange
}

function parseMessage(body: Buffer): JsonRpcMessage | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return isMessage(value) ? value : undefined
  } catch {
    return undefined
  }
}
