import type { Exchange } from '../../../../src/contracts/pipeline.ts'
import { param, type Request, readMessage } from '../../../../src/net/rpc-message.ts'
import { ownerOf } from '../../session-owner.ts'
import type { BridgedServer } from '../bridged-server.ts'
import { toCapabilities } from '../clients/client-sessions.ts'
import { covers } from '../clients/told-capabilities.ts'
import { header } from '../http/mcp-headers.ts'
import { sseSessionId } from '../http/sse-transport.ts'
import { SESSION_HEADER } from '../http/streamable-sessions.ts'
import type { ClientServer } from './client-server.ts'
import type { ClientServers } from './client-servers.ts'

interface Choice {
  readonly server: BridgedServer
  /** The same, if it was started for this request. */
  readonly started?: ClientServer
}

interface Servers {
  readonly mode: 'per-client' | 'auto'
  /** The process that serves whoever has none of their own. */
  readonly shared: BridgedServer
  readonly clients: ClientServers
}

/**
 * Makes the handler that brings each request to the process of its client.
 *
 * A session has the process that its `initialize` was given, to its end. A caller who has logged in and uses no
 * session has one process for all such requests. Requests without both cannot be told apart and share one.
 */
export function createServerChoice(
  { mode, shared, clients }: Servers,
  isOverSse: (exchange: Exchange) => boolean,
): BridgedServer['handle'] {
  /** With `auto`, what the shared process was not told of, or asks for, has to be certain. */
  const wantsOwn = (initialize?: Request): boolean =>
    mode === 'per-client' || shared.router.asksClients || (initialize !== undefined && !isCovered(initialize))

  function isCovered(initialize: Request): boolean {
    const { told } = shared.router.handshake
    return told === undefined || covers(told, toCapabilities(param(initialize, 'capabilities')))
  }

  async function begin(exchange: Exchange, initialize?: Request): Promise<Choice> {
    if (!wantsOwn(initialize)) return { server: shared }
    const started = await clients.start(ownerOf(exchange), initialize?.idText)
    started.noteLogin(exchange)
    return { server: started, started }
  }

  function ofSession(id: string, exchange: Exchange): BridgedServer {
    const own = clients.ofSession(id)
    // The session refuses other callers; they must not change who its process acts for.
    if (own?.owner === ownerOf(exchange)) own?.noteLogin(exchange)
    return own ?? shared
  }

  function ofSse(exchange: Exchange): Choice | Promise<Choice> {
    if (exchange.request.method === 'GET') return begin(exchange)
    return { server: ofSession(sseSessionId(exchange) ?? '', exchange) }
  }

  async function ofStreamable(exchange: Exchange): Promise<Choice> {
    const { request } = exchange
    const isPost = request.method === 'POST'
    const initialize = isPost ? await findInitialize(exchange) : undefined
    if (initialize) return begin(exchange, initialize)
    const id = header(request, SESSION_HEADER)
    if (id !== undefined) return { server: ofSession(id, exchange) }
    const owner = ownerOf(exchange)
    // With `auto` they stay where they began: a call may wait there for the input of its client.
    if (!isPost || owner === undefined || mode === 'auto') return { server: shared }
    const server = await clients.ofCaller(owner)
    server.noteLogin(exchange)
    return { server }
  }

  return async (exchange, rewriting) => {
    const { server, started } = await (isOverSse(exchange) ? ofSse(exchange) : ofStreamable(exchange))
    try {
      await server.handle(exchange, rewriting)
    } finally {
      // Without a session nobody would end it.
      if (started && !started.session) void started.end('no session has begun')
    }
  }
}

async function findInitialize(exchange: Exchange): Promise<Request | undefined> {
  const text = await exchange.rawText()
  // A method can be written with escapes.
  if (!text?.includes('"initialize"') && !text?.includes('\\u')) return undefined
  const message = readMessage(text)
  return message?.kind === 'request' && message.method === 'initialize' ? message : undefined
}
