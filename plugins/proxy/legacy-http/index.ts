import type { Dispatcher } from 'undici'
import type { Exchange } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Log } from '../../../src/log.ts'
import { readMessage } from '../../../src/net/rpc-message.ts'
import type { TargetPath } from '../backends/target-path.ts'
import { sendEmpty } from '../bridge/http-reply.ts'
import { readClientFacts } from '../eras/modern-meta.ts'
import type { Rewriting } from '../rewrite/rewriting.ts'
import { effectiveMode, saidProtocol } from '../section.ts'
import { servesStateless } from './http-server-era.ts'
import { createLegacyRequests } from './legacy-requests.ts'
import { createTranslatedClients, type TranslatedClients } from './translated-clients.ts'

/** Takes requests of clients of MCP 2026-07-28 for one HTTP server, where that is of an older revision. */
export interface LegacyHttp extends Omit<TranslatedClients, 'handle'> {
  /** False when the request is for the server as it is. */
  handle(exchange: Exchange, rewriting: Rewriting | undefined): Promise<boolean>
}

export function createLegacyHttp(options: {
  config: RunConfig
  log: Log
  agent: Dispatcher
  remote: boolean
  headersTimeoutMs: number
  target: TargetPath
}): LegacyHttp {
  const { config } = options
  const send = createLegacyRequests({ ...options, trust: config.trust_proxy_headers === true })
  const clients = createTranslatedClients(options)
  const said = saidProtocol(config)
  // A server of HTTP+SSE has no other revision.
  let isStateless = effectiveMode(config) === 'sse' ? false : said && said === 'stateless'

  return {
    get isIdle() {
      return clients.isIdle
    },
    notify: clients.notify,
    sweep: clients.sweep,
    close: clients.close,
    async handle(exchange, rewriting) {
      if (isStateless) return false
      const text = await exchange.rawText()
      const message = text === undefined ? undefined : readMessage(text)
      if (!message || message.kind === 'response') return false
      isStateless ??= await servesStateless(send, exchange)
      if (isStateless !== false) return false
      if (message.kind === 'notification') {
        // Clients of 2026-07-28 have no notifications that an older server knows.
        sendEmpty(exchange.response, 202)
        return true
      }
      const facts = readClientFacts(message)
      if (typeof facts === 'string') return false
      await clients.handle(exchange, { message, facts, rewriting })
      return true
    },
  }
}
