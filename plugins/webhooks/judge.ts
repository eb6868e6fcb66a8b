import type { Exchange } from '../../src/contracts/pipeline.ts'
import { INTERNAL_ERROR } from '../../src/net/rpc-error-codes.ts'
import { rpcRefusal } from '../proxy/index.ts'
import type { Webhook } from './ask-webhook.ts'
import type { Envelope } from './envelope.ts'
import { idTextOf, type JudgedMessage } from './judged-message.ts'
import { patchMessage } from './patch-message.ts'
import type { WebhookKind } from './section.ts'
import type { WebhookLog } from './webhook-log.ts'

/** A message under way to webhooks. */
export interface Judged {
  readonly exchange: Exchange
  readonly message: JudgedMessage
  readonly kind: WebhookKind
  readonly envelopeOf: (message: string) => Envelope
  readonly log: WebhookLog
}

const DENIED = 403
const UNPROCESSABLE = 422

/**
 * Asks webhooks one after another about a message; each that changes it hands it to the next. Returns the message as it
 * goes on. The first that denies it, or fails, refuses it.
 */
export async function judge(webhooks: readonly Webhook[], judged: Judged): Promise<JudgedMessage> {
  let { message } = judged
  for (const webhook of webhooks) message = await judgeBy(webhook, { ...judged, message })
  return message
}

async function judgeBy(webhook: Webhook, judged: Judged): Promise<JudgedMessage> {
  const { exchange, message, kind, envelopeOf, log } = judged
  const deny = (why: string, status = DENIED) => {
    log.denied(webhook.name, message.method, why)
    return denial(judged, { webhook, status })
  }
  const passOver = (problem: string) => {
    log.failed(webhook.name, problem, webhook.isIgnored)
    if (!webhook.isIgnored) throw failure(judged)
    return message
  }

  const outcome = await webhook.ask(envelopeOf(message.text), exchange.signal)
  if (outcome.kind === 'failed') return passOver(outcome.problem)
  if (outcome.kind === 'unprocessable') {
    throw deny('it responds with 422', kind === 'mutating' ? UNPROCESSABLE : DENIED)
  }
  const { isAllowed, why, patch } = outcome.decision
  if (!isAllowed) throw deny(why)
  if (kind === 'validating' || patch === undefined) return message
  const patched = patchMessage(message, patch)
  return 'problem' in patched ? passOver(patched.problem) : patched.message
}

/** What the webhook says about it is for the log: clients learn nothing of it. */
function denial(
  { exchange, message }: Judged,
  { webhook, status }: { webhook: Webhook; status: number },
): Error {
  exchange.decision = { isAllowed: false, policies: [`webhook ${webhook.name}`] }
  return rpcRefusal(status, DENIED, 'The request is denied by a webhook', { idText: idTextOf(message) })
}

/** The refusal while a webhook fails. */
const failure = ({ message, kind }: Judged): Error =>
  kind === 'mutating'
    ? rpcRefusal(500, INTERNAL_ERROR, 'A webhook that changes requests has failed', {
        idText: idTextOf(message),
      })
    : rpcRefusal(DENIED, DENIED, 'A webhook that checks requests has failed', { idText: idTextOf(message) })
