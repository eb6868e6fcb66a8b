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
} from '../../../src/net/rpc-message.ts'
import { isUp, type Member, type Members } from '../members/members.ts'
import { editMember } from '../names/edit-raw.ts'
import { PUBLIC_RESULTS } from '../names/public-results.ts'
import type { MemberSessions } from './member-sessions.ts'
import type { PublicLists } from './public-lists.ts'
import { findRoute } from './routes.ts'

/** The requests of one client that are for one server each. */
export interface Calls {
  /** Passes a request to the server that has what it names. Returns the response. */
  pass(request: Request): Promise<string>
  /** The server of the request that a notification cancels; undefined when it is not in flight. */
  cancelledAt(notification: Notification): string | undefined
}

export function createCalls(options: {
  members: Members
  sessions: Pick<MemberSessions, 'of'>
  lists: Pick<PublicLists, 'find'>
}): Calls {
  const { members, sessions, lists } = options
  /** By the id of the request. */
  const servers = new Map<string, string>()

  async function ask(member: Member, request: Request, text: string): Promise<string> {
    const { idText, method } = request
    servers.set(idKey(idText), member.name)
    try {
      const response = await sessions.of(member).ask(text, idText)
      const toPublic = PUBLIC_RESULTS[method]
      if (!toPublic || !response.result) return response.text
      return editMember(response.text, ['result'], result => toPublic(result, member.name))
    } catch (error) {
      const problem = `The server "${member.name}" cannot be reached: ${messageOf(error)}`
      return errorText(idText, SERVER_ERROR, problem)
    } finally {
      servers.delete(idKey(idText))
    }
  }

  return {
    async pass(request) {
      const found = await findRoute(request, lists.find)
      const member = members.current.find(({ name }) => name === found?.server)
      if (!found || !member) return notFound(request)
      if (isUp(member)) return ask(member, request, found.text)
      const { name, status, reason } = member
      const why = reason === undefined ? '' : ` (${reason})`
      return errorText(request.idText, SERVER_ERROR, `The server "${name}" is ${status}${why}`)
    },
    cancelledAt: notification => servers.get(idKey(paramText(notification, 'requestId') ?? '')),
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
