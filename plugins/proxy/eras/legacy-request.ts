import { type Request, withParams } from '../../../src/net/rpc-message.ts'
import { withoutProtocolMeta } from './modern-meta.ts'

/**
 * Parameters of 2026-07-28 that servers of older revisions must not get: the rounds are between client and proxy, and
 * `task` would have a server of 2025-11-25 respond with a task, which the client does not know.
 */
const OMITTED = new Set(['inputResponses', 'requestState', 'task'])

/** A request of MCP 2026-07-28 as a server of the era of sessions takes it. */
export function toLegacyRequest(request: Request): Request {
  return request.params
    ? withParams(
        request,
        withoutProtocolMeta(request, name => OMITTED.has(name)),
      )
    : request
}
