import type { Rewriting } from '../../rewrite/rewriting.ts'
import type { Reply } from './call.ts'

/** A reply whose response is rewritten before it is sent. */
export function rewritten(reply: Reply, rewriting: Rewriting | undefined): Reply {
  if (!rewriting) return reply
  return {
    attended: () => reply.attended(),
    related: text => reply.related(text),
    keepAlive: () => reply.keepAlive(),
    respond: text => void rewriting.text(text).then(changed => reply.respond(changed)),
    fail: failure => reply.fail(failure),
  }
}
