import type { Exchange } from '../../../src/contracts/pipeline.ts'
import { INVALID_PARAMS } from '../../../src/net/rpc-error-codes.ts'
import { paramSpan, readMessage } from '../../../src/net/rpc-message.ts'
import { sendEmpty } from '../bridge/http/http-reply.ts'
import { readClientFacts } from '../eras/modern-meta.ts'
import { rpcRefusal } from '../request-refusal.ts'
import type { Rewriting } from '../rewrite/rewriting.ts'
import { servesStateless } from '../translated-http/http-server-era.ts'
import { createSendForCaller } from '../translated-http/send-for-caller.ts'
import type { ServerOptions } from '../translated-http/translation-options.ts'
import { createTranslatedClients, type TranslatedClients } from './translated-clients.ts'

/** Takes requests of clients of MCP 2026-07-28 for one HTTP server, where that is of an older revision. */
export interface LegacyHttp extends Omit<TranslatedClients, 'handle' | 'has'> {
  /** Whether the request continues a call that waits for the input of its client. */
  continues(exchange: Exchange): Promise<boolean>
  /** False when the request is for the server as it is. */
  handle(exchange: Exchange, rewriting: Rewriting | undefined): Promise<boolean>
}

export function createLegacyHttp(options: ServerOptions): LegacyHttp {
  const { target, eras } = options
  const send = createSendForCaller({ ...options, target: () => target })
  const clients = createTranslatedClients(options)

  return {
    get isIdle() {
      return clients.isIdle
    },
    get hasCalls() {
      return clients.hasCalls
    },
    notify: clients.notify,
    sweep: clients.sweep,
    close: clients.close,
    async continues(exchange) {
      const text = await exchange.rawText()
      const message = text === undefined ? undefined : readMessage(text)
      if (message?.kind !== 'request' || !paramSpan(message, 'requestState')) return false
      const facts = readClientFacts(message)
      return typeof facts !== 'string' && clients.has(exchange, facts)
    },
    async handle(exchange, rewriting) {
      const known = eras.of(exchange)
      if (known.stateless) return false
      const text = await exchange.rawText()
      const message = text === undefined ? undefined : readMessage(text)
      if (!message || message.kind === 'response') return false
      if (known.stateless === undefined) {
        const { serves, isSure } = await servesStateless(send, exchange)
        if (serves !== undefined && isSure) known.note('stateless', serves)
        if (serves !== false) return false
      }
      if (message.kind === 'notification') {
        // Clients of 2026-07-28 have no notifications that an older server knows.
        sendEmpty(exchange.response, 202)
        return true
      }
      const facts = readClientFacts(message)
      if (typeof facts === 'string') throw rpcRefusal(400, INVALID_PARAMS, facts, { idText: message.idText })
      const hasSession = await clients.handle(exchange, { message, facts, rewriting })
      // A session shows as well what kind of server it is, where it has refused the question in its own words.
      if (hasSession && known.stateless === undefined) known.note('stateless', false)
      return true
    },
  }
}
