import type { IncomingHttpHeaders } from 'node:http'
import type { Session } from '../http-sessions.ts'
import type { TargetPath } from './target-path.ts'

/** New values for headers of a response: the client's own session id, and redirects within the server as our paths. */
export function replacedHeaders(
  headers: IncomingHttpHeaders,
  session: Session | undefined,
  target: TargetPath,
): Record<string, string> | undefined {
  let replaced: Record<string, string> | undefined
  if (session && session.backendId !== session.id && headers['mcp-session-id'] !== undefined) {
    replaced = { 'mcp-session-id': session.id }
  }
  const { location } = headers
  if (typeof location === 'string' && location.startsWith(`${target.origin}/`)) {
    replaced = { ...replaced, location: target.publicPath(location.slice(target.origin.length)) }
  }
  return replaced
}
