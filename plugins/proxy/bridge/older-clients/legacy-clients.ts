import { TooManyNames } from '../../../../src/lib/parse-json.ts'
import { INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND } from '../../../../src/net/rpc-error-codes.ts'
import { errorText, onOneLine, param, type Request, resultText } from '../../../../src/net/rpc-message.ts'
import { type ClientMetadata, withMetadata } from '../../eras/client-metadata.ts'
import { UNHEARD, wayOf } from '../../eras/legacy-methods.ts'
import { toLegacyResponse } from '../../eras/legacy-response.ts'
import type { Call, Reply } from '../calls/call.ts'
import type { Calls } from '../calls/pending-calls.ts'
import type { ClientMessages } from '../clients/client-messages.ts'
import type { Session } from '../clients/client-sessions.ts'
import { rankOf } from '../clients/log-levels.ts'
import type { Subscriptions } from '../clients/subscriptions.ts'
import { createAskedInputs } from './asked-inputs.ts'
import { startAskingCall } from './asking-call.ts'
import type { HeldListen } from './held-listen.ts'
import { unwatchResource, watchResource } from './watch-resource.ts'

/**
 * Takes the messages of clients with a session where the server is of 2026-07-28: the proxy keeps the session, and
 * each request gets the metadata that the client gave in `initialize`. All other messages go to `messages`.
 */
export function createLegacyClients(options: {
  messages: ClientMessages
  calls: Calls
  subscriptions: Subscriptions
  held: HeldListen
  now: () => number
  write: (text: string) => boolean
}): ClientMessages {
  const { messages, calls, held, now, write } = options
  const asked = createAskedInputs()

  function setLevel(request: Request, metadata: ClientMetadata): string {
    const level = param(request, 'level')
    if (typeof level !== 'string' || rankOf(level) < 0) {
      return errorText(request.idText, INVALID_PARAMS, 'There is no such log level')
    }
    metadata.logLevel = level
    return resultText(request.idText)
  }

  function translate(
    request: Request,
    { session, metadata, reply }: { session: Session; metadata: ClientMetadata; reply: Reply },
  ): Call | 'responded' | 'busy' {
    const { idText, method } = request
    const respond = (text: string) => {
      reply.respond(text)
      return 'responded' as const
    }
    switch (wayOf(method)) {
      case 'pong':
        return respond(resultText(idText))
      case 'level':
        return respond(setLevel(request, metadata))
      case 'subscribe':
        void watchResource(request, { ...options, session }).then(respond)
        return 'responded'
      case 'unsubscribe':
        return respond(unwatchResource(request, { ...options, session }))
      case 'unknown':
        return respond(errorText(idText, METHOD_NOT_FOUND, `The server has no ${method}`))
      case 'rounds':
        return startAskingCall(request, { calls, asked, now, session, metadata, reply }) ?? 'busy'
      case 'forward': {
        const translated = translatedReply(reply, method)
        return calls.start(withMetadata(request, metadata), { session, reply: translated }) ?? 'busy'
      }
    }
  }

  return {
    request(request, given) {
      const { session, reply } = given
      const metadata = session?.metadata
      if (!metadata) return messages.request(request, given)
      try {
        return translate(request, { session, metadata, reply })
      } catch (error) {
        if (!(error instanceof TooManyNames)) throw error
        reply.respond(
          errorText(request.idText, INVALID_REQUEST, `The request cannot be sent: ${error.message}`),
        )
        return 'responded'
      }
    },
    notify(notification, session) {
      if (!session?.metadata || notification.method === 'notifications/cancelled') {
        return messages.notify(notification, session)
      }
      // From here on the client may hear of changes (MCP 2025-11-25, lifecycle).
      if (notification.method === 'notifications/initialized') void held.update()
      return UNHEARD.has(notification.method) || write(onOneLine(notification.text))
    },
    respond(response, session) {
      if (!session?.metadata || !asked.respond(session, response)) messages.respond(response, session)
    },
  }
}

/** A reply with a response that older clients know. */
const translatedReply = (reply: Reply, method: string): Reply => ({
  attended: () => reply.attended(),
  related: text => reply.related(text),
  keepAlive: () => reply.keepAlive(),
  respond: text => reply.respond(toLegacyResponse(text, method)),
  fail: failure => reply.fail(failure),
})
