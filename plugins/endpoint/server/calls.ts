import { messageOf } from '../../../src/errors.ts'
import { memberValue } from '../../../src/lib/raw-json.ts'
import { INVALID_PARAMS, RESOURCE_NOT_FOUND, SERVER_ERROR } from '../../../src/net/rpc-error-codes.ts'
import {
  errorText,
  idKey,
  type Notification,
  param,
  paramText,
  type Request,
  type Response,
} from '../../../src/net/rpc-message.ts'
import { isUp, type Member, type Members } from '../members/members.ts'
import { editMember } from '../names/edit-raw.ts'
import { PUBLIC_RESULTS } from '../names/public-results.ts'
import type { Breaker, Turn } from './breaker.ts'
import { type CallLimits, type Deadline, startDeadline } from './deadline.ts'
import type { MemberSessions } from './member-sessions.ts'
import type { PublicLists } from './public-lists.ts'
import { findRoute } from './routes.ts'

/** The requests of one client that are for one server each. */
export interface Calls {
  /** Passes a request to the server that has what it names. Returns the response. */
  pass(request: Request): Promise<string>
  /** Notes that the client cancels a request. Returns its server; undefined when it is not in flight. */
  cancel(notification: Notification): string | undefined
  /** A server shows that it works on a call: the one with this progress token (raw text), or all of them. */
  noteProgress(server: string, token?: string): void
}

/** A request of the client, and its text as the server knows it. */
interface Passed {
  readonly request: Request
  readonly text: string
}

/** A call in flight. */
interface Call {
  readonly server: string
  readonly token: string | undefined
  readonly deadline: Deadline
  readonly turn: Turn
}

export function createCalls(options: {
  members: Members
  sessions: Pick<MemberSessions, 'of'>
  lists: Pick<PublicLists, 'find'>
  breaker: Breaker
  limitsOf: (server: string) => CallLimits
}): Calls {
  const { members, sessions, lists, breaker, limitsOf } = options
  /** By the id of the request. */
  const calls = new Map<string, Call>()

  /** The response of the server. Rejects when there is none. */
  function ask(member: Member, { request, text }: Passed, turn: Turn): Promise<Response> {
    const { idText } = request
    const key = idKey(idText)
    const session = sessions.of(member)
    const late = Promise.withResolvers<never>()
    const deadline = startDeadline(limitsOf(member.name), seconds => {
      const problem = `it did not respond within ${seconds} seconds`
      session.cancel(idText, problem)
      late.reject(new Error(problem))
    })
    const token = paramText(request, '_meta', 'progressToken')
    const call: Call = { server: member.name, token, deadline, turn }
    calls.set(key, call)
    return Promise.race([session.ask(text, idText), late.promise]).finally(() => {
      deadline.stop()
      if (calls.get(key) === call) calls.delete(key)
    })
  }

  async function passTo(member: Member, passed: Passed): Promise<string> {
    const { idText, method } = passed.request
    const { name } = member
    const turn = breaker.begin(name)
    if ('seconds' in turn) {
      const problem = `The server "${name}" did not respond to the last calls; try again in ${turn.seconds} seconds`
      return errorText(idText, SERVER_ERROR, problem, { retryAfterSeconds: turn.seconds })
    }
    try {
      const response = await ask(member, passed, turn)
      turn.end('responded')
      const toPublic = PUBLIC_RESULTS[method]
      if (!toPublic || !response.result) return response.text
      return editMember(response.text, ['result'], result => toPublic(result, name))
    } catch (error) {
      turn.end(isUp(member) ? 'failed' : 'none')
      return errorText(idText, SERVER_ERROR, `The server "${name}" cannot be reached: ${messageOf(error)}`)
    }
  }

  return {
    async pass(request) {
      const found = await findRoute(request, lists.find)
      const member = members.current.find(({ name }) => name === found?.server)
      if (!found || !member) return notFound(request)
      if (isUp(member)) return passTo(member, { request, text: found.text })
      const { name, status, reason } = member
      const why = reason === undefined ? '' : ` (${reason})`
      return errorText(request.idText, SERVER_ERROR, `The server "${name}" is ${status}${why}`)
    },
    cancel(notification) {
      const call = calls.get(idKey(paramText(notification, 'requestId') ?? ''))
      call?.deadline.stop()
      call?.turn.end('none')
      return call?.server
    },
    noteProgress(server, token) {
      for (const call of calls.values()) {
        if (call.server === server && (token === undefined || token === call.token)) call.deadline.progress()
      }
    },
  }
}

function notFound(request: Request): string {
  const { idText, method } = request
  if (method.startsWith('resources/')) {
    return errorText(idText, RESOURCE_NOT_FOUND, 'Resource not found', { uri: param(request, 'uri') })
  }
  const wanted = String(memberValue(paramText(request) ?? '{}', 'name') ?? '')
  const kind = method === 'tools/call' ? 'tool' : 'prompt'
  return errorText(idText, INVALID_PARAMS, `Unknown ${kind}: ${wanted}`)
}
