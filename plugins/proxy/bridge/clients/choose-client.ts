import { param, paramSpan, type Request } from '../../../../src/net/rpc-message.ts'
import type { Calls } from '../calls/pending-calls.ts'
import type { Session, Sessions } from './client-sessions.ts'
import type { Owners } from './owners.ts'

const RELATED_TASK = ['_meta', 'io.modelcontextprotocol/related-task', 'taskId']

/**
 * Returns the client that a request of the server goes to; undefined when there is no certain one.
 *
 * Over stdio a server does not say which request of a client its own request belongs to. The choice is:
 * the owner of the task that the request names; else the only client with a call in flight, if it has the
 * capability; with no call in flight, the only client that has the capability. With calls of several clients
 * in flight, or a call that was given up, no client is chosen: the data of one client must not reach another, and
 * the roots of one client must not be those of a call of another.
 */
export function chooseClient(
  request: Request,
  { calls, sessions, tasks }: { calls: Calls; sessions: Sessions; tasks: Owners<string> },
): Session | undefined {
  const task = param(request, ...RELATED_TASK)
  const owner = typeof task === 'string' ? tasks.find(task) : undefined
  if (owner) return canTake(owner, request) ? owner : undefined
  const atWork = calls.atWork()
  if (atWork === 'uncertain') return undefined
  if (typeof atWork === 'object') {
    return 'session' in atWork && canTake(atWork.session, request) ? atWork.session : undefined
  }
  let only: Session | undefined
  for (const session of sessions.all()) {
    if (!canTake(session, request)) continue
    if (only) return undefined
    only = session
  }
  return only
}

/** Whether a client has declared the capability for this request. */
export function canTake(session: Session, request: Request): boolean {
  const { sampling, elicitation, roots } = session.capabilities
  switch (request.method) {
    case 'sampling/createMessage':
      return paramSpan(request, 'tools') ? sampling?.tools !== undefined : sampling !== undefined
    case 'elicitation/create':
      if (param(request, 'mode') === 'url') return elicitation?.url !== undefined
      // Before 2025-11-25 an empty object meant forms.
      return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
    case 'roots/list':
      return roots !== undefined
    default:
      return true
  }
}
