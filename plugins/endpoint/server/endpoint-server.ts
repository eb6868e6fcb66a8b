import { VERSION } from '../../../src/build-info.ts'
import { messageOf } from '../../../src/errors.ts'
import { toRaw } from '../../../src/lib/raw-json.ts'
import type { Log } from '../../../src/log.ts'
import { INTERNAL_ERROR, METHOD_NOT_FOUND } from '../../../src/net/rpc-error-codes.ts'
import {
  errorText,
  type Notification,
  param,
  paramText,
  type Request,
  readMessage,
  resultText,
} from '../../../src/net/rpc-message.ts'
import type { Member, Members } from '../members/members.ts'
import { LIST_KINDS } from '../names/list-kinds.ts'
import type { Naming } from '../names/naming.ts'
import type { Breaker } from './breaker.ts'
import { createCalls } from './calls.ts'
import type { Catalog } from './catalog.ts'
import type { CallLimits } from './deadline.ts'
import { instructionsOf } from './instructions.ts'
import type { CarryMessages } from './member-connection.ts'
import { createMemberSession, type MemberSession } from './member-session.ts'
import { createMemberSessions } from './member-sessions.ts'
import { type KnownMerges, listResult } from './merged-lists.ts'
import { createOwnRequests, OWN } from './own-requests.ts'
import type { OpenOwnTools } from './own-tools.ts'
import { createPublicLists } from './public-lists.ts'
import { isRouted } from './routes.ts'
import { createServerMessages } from './server-messages.ts'
import { createServerRequests } from './server-requests.ts'

/** The server that an endpoint is to one client. It speaks MCP 2025-11-25 and older, a message a line. */
export interface EndpointServer {
  receive(line: string): void
  /** Called when what was sent has been read, after `send` has returned false. */
  drained(): void
  /** Resolves when its sessions at servers have ended. */
  close(): Promise<void>
}

export interface EndpointServerOptions {
  readonly name: string
  readonly naming: Naming
  /** Whether tools name their server (`markServer`). */
  readonly marksServers: boolean
  readonly members: Members
  /** What its clients share. */
  readonly shared: { readonly catalog: Catalog; readonly merges: KnownMerges; readonly breaker: Breaker }
  /** The header by which the client has logged in. */
  readonly authorization: () => string | undefined
  readonly limitsOf: (server: string) => CallLimits
  /** Makes the way to a server. */
  readonly carryTo: (member: Member) => CarryMessages
  /** Sends a message to the client. False: it reads slowly, and nothing more should be sent until `drained`. */
  readonly send: (text: string) => boolean
  /** Makes the tools of the endpoint itself, where it has some. */
  readonly openOwnTools?: OpenOwnTools | undefined
  readonly log: Log
}

const CAPABILITIES =
  '{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},' +
  '"completions":{},"logging":{}}'
const NEWEST = '2025-11-25'

/** It is long because it connects the parts of one connection, which call each other. */
export function createEndpointServer(options: EndpointServerOptions): EndpointServer {
  const { name, naming, members, shared, carryTo, log } = options
  let initialize = '{}'
  let level: string | undefined
  let isOpen = false

  /** Servers wait while the client does not read. */
  function send(text: string): void {
    if (options.send(text)) return
    for (const session of sessions.all()) session.pause(true)
  }

  const openSession = (server: string, carry: CarryMessages, params = () => initialize) =>
    createMemberSession({
      ...{ server, carry, catalog: shared.catalog, log },
      greeting: () => ({ initialize: params(), level, authorization: options.authorization() }),
      onMessage: message => hearServer(server, message),
    })

  const requests = createServerRequests()
  const sessions = createMemberSessions({
    members,
    open: member => openSession(member.name, carryTo(member)),
    onGone: server => requests.drop(server).forEach(send),
    onChange: () => lists.changed(Object.keys(LIST_KINDS)),
  })
  const lists = createPublicLists({
    naming,
    marksServers: options.marksServers,
    known: shared.merges,
    listed: sessions.listed,
    tell: text => void (isOpen && send(text)),
  })
  const { breaker } = shared
  const calls = createCalls({ members, sessions, lists, breaker, limitsOf: options.limitsOf })
  const hearServer = createServerMessages({ requests, lists, calls, session: findSession, send })
  const own = createOwnRequests({ requests, send })
  const ownTools = options.openOwnTools?.({
    ...{ own, tell: send, initialize: () => initialize, tools: () => lists.of('tools/list') },
    openSession: (carry, params) => openSession(name, carry, params),
  })
  let hasOwnTools = ownTools !== undefined

  function findSession(server: string): MemberSession | undefined {
    return server === name ? ownTools?.session : sessions.find(server)
  }

  async function begin(request: Request): Promise<string> {
    initialize = paramText(request) ?? '{}'
    hasOwnTools = ownTools?.isOfferedTo(request) ?? false
    const asked = param(request, 'protocolVersion')
    const version = typeof asked === 'string' && asked < NEWEST ? asked : NEWEST
    isOpen = true
    const instructions = await instructionsOf(sessions.listed())
    return toRaw(
      `{"protocolVersion":${JSON.stringify(version)},"capabilities":${CAPABILITIES},` +
        `"serverInfo":${JSON.stringify({ name, version: VERSION })}` +
        `${instructions === undefined ? '' : `,"instructions":${JSON.stringify(instructions)}`}}`,
    )
  }

  function setLevel(request: Request): string {
    const { text, idText } = request
    level = paramText(request, 'level')
    for (const session of sessions.all()) session.ask(text, idText).catch(() => undefined)
    return '{}'
  }

  async function respond(request: Request): Promise<string> {
    const { idText, method } = request
    if (method === 'initialize') return resultText(idText, await begin(request))
    if (method === 'ping') return resultText(idText)
    if (method === 'logging/setLevel') return resultText(idText, setLevel(request))
    const isOfTools = hasOwnTools && method.startsWith('tools/')
    if (isOfTools && ownTools?.isFor(request)) return ownTools.call(request)
    if (method in LIST_KINDS) {
      const list = await lists.of(method)
      return resultText(idText, listResult(isOfTools && ownTools ? ownTools.listed(list) : list))
    }
    if (isRouted(method)) return calls.pass(request)
    return errorText(idText, METHOD_NOT_FOUND, 'Method not found')
  }

  /** A cancellation goes to the server of its request, everything else to all. */
  function notify(notification: Notification): void {
    const { method, text } = notification
    if (method === 'notifications/initialized') return
    const isCancellation = method === 'notifications/cancelled'
    const server = isCancellation ? calls.cancel(notification) : undefined
    if (server !== undefined) sessions.find(server)?.tell(text)
    if (isCancellation) ownTools?.cancel(notification)
    if (isCancellation) return
    for (const session of sessions.all()) session.tell(text)
  }

  return {
    receive(line) {
      const message = readMessage(line)
      if (!message) return
      if (message.kind === 'notification') return notify(message)
      if (message.kind === 'response') {
        const answer = requests.respond(message)
        if (!answer) return
        if (answer.server === OWN) return own.hear(answer.text)
        calls.noteProgress(answer.server)
        return findSession(answer.server)?.tell(answer.text)
      }
      respond(message).then(send, error => {
        log.error(`${message.method}: ${messageOf(error)}`)
        send(errorText(message.idText, INTERNAL_ERROR, 'Internal error'))
      })
    },
    drained() {
      for (const session of sessions.all()) session.pause(false)
    },
    async close() {
      await Promise.all([sessions.close(), ownTools?.close()])
    },
  }
}
