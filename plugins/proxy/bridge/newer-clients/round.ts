import { splice } from '../../../../src/lib/raw-json.ts'
import { type Notification, param, paramSpan, type Request } from '../../../../src/net/rpc-message.ts'
import { withoutCallHint } from '../../eras/call-hint.ts'
import type { Reply } from '../calls/call.ts'
import { rankOf } from '../clients/log-levels.ts'

/** One POST of a client: the call itself, or a retry that brings the input it was asked for. */
export interface Round {
  readonly request: Request
  readonly reply: Reply
  /** The least severe log messages that the client wants; undefined: none. */
  readonly logLevel: string | undefined
}

/** Passes a notification to the POST that waits. False when it is not for this call, or nobody waits. */
export function toRound(message: Notification, round: Round | undefined): boolean {
  if (!round) return false
  switch (message.method) {
    case 'notifications/progress': {
      const token = paramSpan(round.request, '_meta', 'progressToken')
      if (!token) return false
      const text = round.request.text.slice(token.start, token.end)
      return round.reply.related(splice(message.text, [{ span: paramSpan(message, 'progressToken'), text }]))
    }
    case 'notifications/message':
      return admits(round, message) && round.reply.related(withoutCallHint(message))
    // Only in older revisions.
    case 'notifications/elicitation/complete':
    case 'notifications/tasks/status':
      return false
    default:
      return round.reply.related(withoutCallHint(message))
  }
}

/** A client gets the log messages of a request only with a level in the request (MCP 2026-07-28, logging). */
const admits = ({ logLevel }: Round, message: Notification): boolean =>
  logLevel !== undefined && rankOf(param(message, 'level')) >= rankOf(logLevel)
