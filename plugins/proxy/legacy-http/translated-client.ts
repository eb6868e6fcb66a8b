import type { Exchange } from '../../../src/contracts/pipeline.ts'
import type { Message } from '../../../src/net/rpc-message.ts'
import { createStreamablePost } from '../bridge/http/streamable-post.ts'
import type { MessageRouter } from '../bridge/message-router.ts'
import type { ServerLink } from '../bridge/server/server-link.ts'
import { initializeParams } from '../eras/initialize-params.ts'
import { dropBodyAtEnd } from '../exchange.ts'
import { Refusal, unavailable } from '../request-refusal.ts'
import type { Rewriting } from '../rewrite/rewriting.ts'
import type { LoginWanted } from '../translated-http/response-lines.ts'

/** A client of MCP 2026-07-28 and its session at an HTTP server of an older revision. */
export interface TranslatedClient {
  readonly router: MessageRouter
  /** The latest of its exchanges, whose credentials are sent. */
  latest: Exchange
  lastUsed: number
  handle(exchange: Exchange, message: Message, rewriting: Rewriting | undefined): Promise<void>
}

/** @param options.open opens a session; `onLoginWanted` is called when the server refuses the credentials */
export function createTranslatedClient({
  router,
  first,
  now,
  open,
}: {
  router: MessageRouter
  first: Exchange
  now: () => number
  open: (client: TranslatedClient, onLoginWanted: (wanted: LoginWanted) => void) => ServerLink
}): TranslatedClient {
  const post = createStreamablePost(router)
  let refusal: Refusal | undefined

  function onLoginWanted({ status, headers, body }: LoginWanted): void {
    const { 'content-type': type = 'text/plain', ...others } = headers
    refusal = new Refusal(status, { type, body: Buffer.from(body, 'latin1') }, others)
    // The next request opens a session, so that its client gets the challenge.
    if (router.handshake.agreed && status === 401)
      setImmediate(() => router.server.disconnect('the server wants other credentials'))
  }

  /** Initialises before the request is taken, so that a refusal of the server is one for the client. */
  async function connect(message: Message): Promise<void> {
    if (router.problem !== undefined) {
      refusal = undefined
      router.server.connect(open(client, onLoginWanted))
    }
    if (!router.handshake.agreed) await router.handshake.ensure(initializeParams(message))
    if (router.handshake.agreed) return
    if (refusal) {
      router.server.disconnect('the server wants other credentials')
      throw refusal
    }
    if (router.problem !== undefined) {
      throw unavailable(
        `The server went away: ${router.problem}`,
        message.kind === 'request' ? { idText: message.idText } : {},
      )
    }
  }

  const client: TranslatedClient = {
    router,
    latest: first,
    lastUsed: now(),
    async handle(exchange, message, rewriting) {
      client.latest = exchange
      dropBodyAtEnd(exchange)
      client.lastUsed = now()
      await connect(message)
      return post(exchange, rewriting, message)
    },
  }
  return client
}
