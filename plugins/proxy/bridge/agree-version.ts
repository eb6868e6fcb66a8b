import { parseRaw, type Span, splice, topLevelMembers } from '../../../src/lib/raw-json.ts'
import { SESSION_VERSIONS } from '../revisions/index.ts'

function stringMember(text: string, name: string): { value: string; span: Span } | undefined {
  const span = topLevelMembers(text)?.at.get(name)
  const value = span && parseRaw(text.slice(span.start, span.end))
  return span && typeof value === 'string' ? { value, span } : undefined
}

/**
 * The result of `initialize` for one of several clients that share the server: with the version that this client
 * asked for, when the server agreed on a newer one with another client (MCP lifecycle, version negotiation).
 * A client ends the connection when it does not know the version, and what newer versions add can be ignored.
 */
export function agreeVersion(result: string, { asked, first }: { asked: string; first: string }): string {
  const version = stringMember(asked, 'protocolVersion')?.value
  const agreed = stringMember(result, 'protocolVersion')
  // What the server responded to this very version is its own decision.
  if (!version || !agreed || version === stringMember(first, 'protocolVersion')?.value) return result
  if (!SESSION_VERSIONS.includes(version) || version >= agreed.value) return result
  return splice(result, [{ span: agreed.span, text: JSON.stringify(version) }])
}
