import type { Caller } from '../../src/contracts/caller-auth.ts'
import type {
  Decision,
  Exchange,
  Handler,
  Middleware,
  MiddlewareContext,
} from '../../src/contracts/pipeline.ts'
import { messageOf } from '../../src/errors.ts'
import type { NamedLists } from '../../src/lib/named-lists.ts'
import { isResponse } from '../../src/net/json-rpc.ts'
import { readMessage } from '../../src/net/rpc-message.ts'
import { hasBody, rpcRefusal } from '../proxy/index.ts'
import { askedUse } from './asked-use.ts'
import type { Asker, Decider, Use } from './decider.ts'
import { failures } from './failures.ts'
import { filterList, LISTS } from './filter-list.ts'
import { createKnownHints } from './known-hints.ts'
import { createLocalCallers } from './local-caller.ts'

/** The code of the JSON-RPC error, as the HTTP status. */
const FORBIDDEN = 403

/** Lets callers use what the policies allow them, and shows them no more. */
export function createAuthorize(options: {
  /** The policies that count now. */
  decider: () => Decider
  hasLogin: boolean
  /** What it does, in few words. */
  summary: string
  context: Pick<MiddlewareContext, 'listTools' | 'log'>
  close: () => void
}): Middleware {
  const { listTools, log } = options.context
  const hints = createKnownHints(listTools)
  const localCaller = createLocalCallers()

  function callerOf(exchange: Exchange): Caller {
    if (exchange.caller) return exchange.caller
    if (options.hasLogin) throw rpcRefusal(FORBIDDEN, FORBIDDEN, 'Unauthorized')
    return localCaller(exchange)
  }

  async function judge(exchange: Exchange, next: Handler): Promise<void> {
    const message = await exchange.message()
    if (!message) throw failures.authz_message_unreadable()
    if (isResponse(message)) return next(exchange)
    if (!('method' in message)) throw failures.authz_message_unreadable()
    const asked = askedUse(message)
    if (asked === 'unknown') {
      exchange.decision = { isAllowed: false, policies: [] }
      throw await refuse(exchange)
    }
    if (asked !== 'free') {
      exchange.decision = await decideUses(exchange, asked)
      if (!exchange.decision.isAllowed) throw await refuse(exchange)
    }
    return next(exchange)
  }

  async function decideUses(exchange: Exchange, uses: readonly Use[]): Promise<Decision> {
    const caller = callerOf(exchange)
    const policies = new Set<string>()
    for (const use of uses) {
      const decision = await decideUse(caller, use, exchange)
      if (!decision.isAllowed) return decision
      for (const id of decision.policies ?? []) policies.add(id)
    }
    return { isAllowed: true, policies: [...policies] }
  }

  async function decideUse(caller: Caller, use: Use, asker: Asker): Promise<Decision> {
    try {
      const asksForHints = use.feature === 'tool' && options.decider().readsHints(use)
      const known = asksForHints ? await hints.find(use.id) : undefined
      // The policies may have changed meanwhile.
      return await options.decider().decide(caller, { ...use, hints: known }, asker)
    } catch (error) {
      log.warn('policies cannot decide on a call without the tools of the server', {
        problem: messageOf(error),
      })
      return { isAllowed: false, policies: [] }
    }
  }

  const filters = [...LISTS].map(
    ([method, list]) =>
      [
        method,
        (result: string, exchange: Exchange, lists?: NamedLists) =>
          filterList(result, list, {
            caller: callerOf(exchange),
            decider: options.decider(),
            learn: hints.learn,
            asker: exchange,
            lists,
          }),
      ] as const,
  )

  return {
    name: 'authorize',
    stage: 'authorize',
    summary: options.summary,
    rewrites: new Map(filters),
    wrap: next => async exchange => {
      const { request } = exchange
      if (request.method === 'POST' || hasBody(request)) return judge(exchange, next)
      if (isSessionRequest(exchange)) return next(exchange)
      exchange.decision = { isAllowed: false, policies: [] }
      throw rpcRefusal(FORBIDDEN, FORBIDDEN, 'Unauthorized')
    },
    close: options.close,
  }
}

/** What MCP has besides messages: streams of the server, ends of sessions, and what browsers ask before a request. */
function isSessionRequest({ request: { method, headers } }: Exchange): boolean {
  if (method === 'GET') return /\btext\/event-stream\b/i.test(headers.accept ?? '')
  return method === 'DELETE' || method === 'OPTIONS'
}

async function refuse(exchange: Exchange): Promise<Error> {
  const message = readMessage((await exchange.rawText()) ?? '')
  return rpcRefusal(FORBIDDEN, FORBIDDEN, 'Unauthorized', {
    idText: message?.kind === 'request' ? message.idText : undefined,
  })
}
