import type { Exchange } from '../../../../src/contracts/pipeline.ts'
import { INVALID_REQUEST, SERVER_ERROR } from '../../../../src/net/rpc-error-codes.ts'
import { errorText, type Message, type Request } from '../../../../src/net/rpc-message.ts'
import { untilAvailable } from '../../availability.ts'
import { rpcRefusal, sessionNotFound } from '../../request-refusal.ts'
import type { Rewriting } from '../../rewrite/rewriting.ts'
import type { Call, Reply } from '../calls/call.ts'
import { rewritten } from '../calls/rewritten-reply.ts'
import type { Session } from '../clients/client-sessions.ts'
import type { MessageRouter } from '../message-router.ts'
import { createBatchReply } from './batch-reply.ts'
import { followCalls } from './follow-calls.ts'
import { BUSY, busyRefusal, sendEmpty } from './http-reply.ts'
import { findSession } from './streamable-sessions.ts'

/** The only revision with batches. */
const VERSION = '2025-03-26'

/**
 * Responds to a POST with a batch of messages. The stages before have judged the batch: those that judge single
 * messages have refused it.
 */
export async function postBatch(
  router: MessageRouter,
  options: { messages: readonly Message[]; exchange: Exchange; rewriting: Rewriting | undefined },
): Promise<void> {
  const { messages, exchange, rewriting } = options
  const { response } = exchange
  const session = findSession(router, exchange)
  if (session?.version !== VERSION) {
    throw rpcRefusal(400, INVALID_REQUEST, `Only a session of ${VERSION} takes batches`)
  }
  await untilAvailable(router.availability, exchange)
  if (response.destroyed) return
  if (session.closed) throw sessionNotFound()
  const requests = messages.filter(message => message.kind === 'request')
  if (!hasRoom(router, session, requests.length)) throw busyRefusal(undefined)

  const started: Call[] = []
  const onGone = () => {
    for (const call of started) router.calls.abandon(call, 'cancelled', 'the client has gone')
  }
  const batch =
    requests.length > 0
      ? createBatchReply(router, exchange, { session, count: requests.length, onGone })
      : undefined
  const ask = (request: Request, reply: Reply) => {
    const outcome = router.messages.request(request, { session, owner: session.owner, reply })
    if (outcome === 'busy') {
      reply.respond(errorText(request.idText, SERVER_ERROR, BUSY))
    } else if (outcome !== 'responded') started.push(outcome)
  }
  for (const message of messages) {
    if (message.kind === 'notification') router.messages.notify(message, session)
    else if (message.kind === 'response') router.messages.respond(message, session)
    else if (batch) ask(message, rewritten(batch.of(message.idText), rewriting))
  }
  if (!batch) return sendEmpty(response, 202)
  batch.open()
  followCalls(router.calls, started, exchange)
}

/** So that no batch is taken in part. */
const hasRoom = ({ calls, queued, limits }: MessageRouter, { holder }: Session, count: number): boolean =>
  calls.hasRoom(holder, count) && queued <= limits.maxQueuedBytes
