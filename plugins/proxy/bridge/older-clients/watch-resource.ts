import { INVALID_PARAMS, SERVER_ERROR } from '../../../../src/net/rpc-error-codes.ts'
import { errorText, param, type Request, resultText } from '../../../../src/net/rpc-message.ts'
import type { Session } from '../clients/client-sessions.ts'
import type { Subscriptions } from '../clients/subscriptions.ts'
import type { HeldListen } from './held-listen.ts'

interface Watching {
  readonly session: Session
  readonly subscriptions: Subscriptions
  readonly held: HeldListen
}

/** Serves `resources/subscribe` by the listening of the proxy. Resolves with the response. */
export async function watchResource(
  request: Request,
  { session, subscriptions, held }: Watching,
): Promise<string> {
  const { idText } = request
  const uri = param(request, 'uri')
  if (typeof uri !== 'string') return errorText(idText, INVALID_PARAMS, 'uri is not a text')
  if (!subscriptions.hasRoom(session, uri)) {
    return errorText(idText, SERVER_ERROR, 'This session has too many subscriptions')
  }
  subscriptions.add(session, uri)
  const told = await held.update()
  if (told.includes(uri)) {
    subscriptions.confirm(session, uri)
    return resultText(idText)
  }
  subscriptions.remove(session, uri)
  return errorText(idText, SERVER_ERROR, 'The server does not tell of changes of this resource')
}

/** Serves `resources/unsubscribe`. Returns the response. */
export function unwatchResource(request: Request, { session, subscriptions, held }: Watching): string {
  const uri = param(request, 'uri')
  if (typeof uri === 'string' && subscriptions.remove(session, uri)) void held.update()
  return resultText(request.idText)
}
