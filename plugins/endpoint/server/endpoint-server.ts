import { VERSION } from '../../../src/build-info.ts'
import { messageOf } from '../../../src/errors.ts'
import { memberValue, toRaw } from '../../../src/lib/raw-json.ts'
import type { Log } from '../../../src/log.ts'
import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  METHOD_NOT_FOUND,
  RESOURCE_NOT_FOUND,
  SERVER_ERROR,
} from '../../../src/net/rpc-error-codes.ts'
import {
  errorText,
  idKey,
  type Message,
  type Notification,
  param,
  paramText,
  type Request,
  type Response,
  readMessage,
  resultText,
} from '../../../src/net/rpc-message.ts'
import { isUp, type Member, type Members } from '../members/members.ts'
import { editMember } from '../names/edit-raw.ts'
import { CHANGED_LISTS, LIST_KINDS } from '../names/list-kinds.ts'
import type { Naming } from '../names/naming.ts'
import { PUBLIC_RESULTS, uri } from '../names/public-results.ts'
import { instructionsOf } from './instructions.ts'
import type { CarryMessages } from './member-connection.ts'
import { createMemberSession, type MemberSession } from './member-session.ts'
import { listResult, type MergedList, mergeLists } from './merged-lists.ts'
import { findRoute, isRouted } from './routes.ts'
import { createServerRequests } from './server-requests.ts'

/** The server that an endpoint is to one client. It speaks MCP 2025-11-25 and older, a message a line. */
export interface EndpointServer {
  receive(line: string): void
  /** Called when what was sent has been read, after `send` has returned false. */
  drained(): void
  close(): void
}

const CAPABILITIES =
  '{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},' +
  '"completions":{},"logging":{}}'
const NEWEST = '2025-11-25'
/** How long the tools of a server that is down stay listed, so that a restart changes no list; in milliseconds. */
const KEEP_MS = 30_000

/** It is long because it holds the state of one connection. */
export function createEndpointServer(options: {
  name: string
  naming: Naming
  members: Members
  /** Makes the way to a server. */
  carryTo: (member: Member) => CarryMessages
  /** Sends a message to the client. False: it reads slowly, and nothing more should be sent until `drained`. */
  send: (text: string) => boolean
  log: Log
}): EndpointServer {
  const { name, naming, members, carryTo, log } = options
  const sessions = new Map<string, MemberSession>()
  const downSince = new Map<string, number>()
  const merged = new Map<string, Promise<MergedList>>()
  /** What the last lists named; calls need not wait for a newer list. */
  const named = new Map<string, MergedList['offers']>()
  const requests = createServerRequests()
  /** The servers of the client's requests in flight. */
  const calls = new Map<string, string>()
  let initialize = '{}'
  let level: string | undefined
  let isOpen = false

  /** Servers wait while the client does not read. */
  function send(text: string): void {
    if (options.send(text)) return
    for (const session of sessions.values()) session.pause(true)
  }

  let expiry: NodeJS.Timeout | undefined

  function sessionOf(member: Member): MemberSession {
    const known = sessions.get(member.name)
    if (known) return known
    const { name: server } = member
    const session = createMemberSession({
      server,
      carry: carryTo(member),
      greeting: () => ({ initialize, level }),
      onMessage(message) {
        const text = toClient(server, message)
        if (text !== undefined) send(text)
      },
      log,
    })
    sessions.set(server, session)
    return session
  }

  /** The servers whose offers clients see: those that run, and for a while those that ran. */
  function listed(): MemberSession[] {
    const now = Date.now()
    return members.current
      .filter(member => isUp(member) || now - (downSince.get(member.name) ?? 0) < KEEP_MS)
      .map(sessionOf)
  }

  function list(method: string): Promise<MergedList> {
    const known = merged.get(method)
    if (known) return known
    const found = mergeLists(method, { sessions: listed(), naming, onLate: () => changed([method]) })
    merged.set(method, found)
    found.then(
      ({ offers }) => named.set(method, offers),
      () => merged.delete(method),
    )
    return found
  }

  /** The list, asked for anew where a server was missing from it: that one may respond by now. */
  async function listAgain(method: string): Promise<MergedList> {
    const known = merged.get(method)
    if (known && (await known).missing.size > 0 && merged.get(method) === known) merged.delete(method)
    return list(method)
  }

  /** Tells the client that lists have changed. */
  function changed(methods: readonly string[]): void {
    for (const method of methods) merged.delete(method)
    if (!isOpen) return
    for (const [notification, lists] of Object.entries(CHANGED_LISTS)) {
      if (lists.some(one => methods.includes(one))) send(`{"jsonrpc":"2.0","method":"${notification}"}`)
    }
  }

  function membersChanged(): void {
    const now = Date.now()
    const current = new Map(members.current.map(member => [member.name, member]))
    for (const [server, session] of sessions) {
      const member = current.get(server)
      if (member && isUp(member)) downSince.delete(server)
      else if (!downSince.has(server)) downSince.set(server, now)
      if (member) continue
      downSince.delete(server)
      session.close()
      sessions.delete(server)
      for (const text of requests.drop(server)) send(text)
    }
    clearTimeout(expiry)
    if (downSince.size > 0) expiry = setTimeout(() => changed(Object.keys(LIST_KINDS)), KEEP_MS).unref()
    changed(Object.keys(LIST_KINDS))
  }

  /** What the client gets of a message of a server; undefined where that is nothing. */
  function toClient(server: string, message: Exclude<Message, Response>): string | undefined {
    const { method, text } = message
    if (message.kind === 'request') {
      const passed = method === 'ping' ? undefined : requests.pass(server, message)
      if (passed !== undefined) return passed
      const { idText } = message
      const own =
        method === 'ping' ? resultText(idText) : errorText(idText, SERVER_ERROR, 'Too many requests wait')
      sessions.get(server)?.tell(own)
      return undefined
    }
    const lists = CHANGED_LISTS[method]
    if (lists) {
      for (const one of lists) sessions.get(server)?.forget(one)
      changed(lists)
      return undefined
    }
    if (method === 'notifications/cancelled') return requests.cancel(server, message)
    return method === 'notifications/resources/updated'
      ? editMember(text, ['params', 'uri'], uri(server))
      : text
  }

  async function begin(request: Request): Promise<string> {
    initialize = paramText(request) ?? '{}'
    const asked = param(request, 'protocolVersion')
    const version = typeof asked === 'string' && asked < NEWEST ? asked : NEWEST
    isOpen = true
    const instructions = await instructionsOf(listed())
    return toRaw(
      `{"protocolVersion":${JSON.stringify(version)},"capabilities":${CAPABILITIES},` +
        `"serverInfo":${JSON.stringify({ name, version: VERSION })}` +
        `${instructions === undefined ? '' : `,"instructions":${JSON.stringify(instructions)}`}}`,
    )
  }

  function setLevel(request: Request): string {
    level = paramText(request, 'level')
    for (const session of sessions.values()) {
      session.ask(request.text, request.idText).catch(() => undefined)
    }
    return '{}'
  }

  /** A name that is known is not looked for again, so that a server that hangs delays no call of another. */
  const find = async (method: string, wanted: string) =>
    named.get(method)?.get(wanted) ?? (await listAgain(method)).offers.get(wanted)

  /** Passes a request to the server that has what it names. Returns the response. */
  async function route(request: Request): Promise<string> {
    const { idText, method } = request
    const found = await findRoute(request, find)
    const member = members.current.find(one => one.name === found?.server)
    if (!found || !member) return notFound(request)
    if (!isUp(member)) {
      const reason = member.reason === undefined ? '' : ` (${member.reason})`
      return errorText(idText, SERVER_ERROR, `The server "${member.name}" is ${member.status}${reason}`)
    }
    calls.set(idKey(idText), member.name)
    try {
      const response = await sessionOf(member).ask(found.text, idText)
      const toPublic = PUBLIC_RESULTS[method]
      if (!toPublic || !response.result) return response.text
      return editMember(response.text, ['result'], result => toPublic(result, member.name))
    } catch (error) {
      return errorText(
        idText,
        SERVER_ERROR,
        `The server "${member.name}" cannot be reached: ${messageOf(error)}`,
      )
    } finally {
      calls.delete(idKey(idText))
    }
  }

  async function respond(request: Request): Promise<string> {
    const { idText, method } = request
    if (method === 'initialize') return resultText(idText, await begin(request))
    if (method === 'ping') return resultText(idText)
    if (method === 'logging/setLevel') return resultText(idText, setLevel(request))
    if (method in LIST_KINDS) return resultText(idText, listResult(method, await listAgain(method)))
    if (isRouted(method)) return route(request)
    return errorText(idText, METHOD_NOT_FOUND, 'Method not found')
  }

  /** A cancellation goes to the server of its request, everything else to all. */
  function notify(notification: Notification): void {
    if (notification.method === 'notifications/initialized') return
    if (notification.method !== 'notifications/cancelled') {
      for (const session of sessions.values()) session.tell(notification.text)
      return
    }
    const server = calls.get(idKey(paramText(notification, 'requestId') ?? ''))
    if (server !== undefined) sessions.get(server)?.tell(notification.text)
  }

  const stopHearing = members.onChange(membersChanged)
  return {
    receive(line) {
      const message = readMessage(line)
      if (!message) return
      if (message.kind === 'notification') return notify(message)
      if (message.kind === 'response') {
        const answer = requests.respond(message)
        return answer && sessions.get(answer.server)?.tell(answer.text)
      }
      respond(message).then(send, error => {
        log.error(`${message.method}: ${messageOf(error)}`)
        send(errorText(message.idText, INTERNAL_ERROR, 'Internal error'))
      })
    },
    drained() {
      for (const session of sessions.values()) session.pause(false)
    },
    close() {
      stopHearing()
      clearTimeout(expiry)
      for (const session of sessions.values()) session.close()
    },
  }
}

function notFound(request: Request): string {
  const { idText, method } = request
  if (method.startsWith('resources/')) {
    return errorText(idText, RESOURCE_NOT_FOUND, 'Resource not found', { uri: param(request, 'uri') })
  }
  const wanted = String(memberValue(paramText(request) ?? '{}', 'name') ?? '')
  return errorText(
    idText,
    INVALID_PARAMS,
    `Unknown ${method === 'tools/call' ? 'tool' : 'prompt'}: ${wanted}`,
  )
}
