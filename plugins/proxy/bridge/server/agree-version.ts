import { memberValue, splice, topLevelMembers } from '../../../../src/lib/raw-json.ts'
import { SESSION_VERSIONS } from '../../revisions/index.ts'

const versionIn = (text: string): string | undefined => {
  const version = memberValue(text, 'protocolVersion')
  return typeof version === 'string' ? version : undefined
}

/**
 * The result of `initialize` for one of several clients that share the server: with the version that this client
 * asked for, when the server agreed on a newer one with another client (MCP lifecycle, version negotiation).
 * A client ends the connection when it does not know the version, and what newer versions add can be ignored.
 */
export function agreeVersion(result: string, { asked, first }: { asked: string; first: string }): string {
  const version = versionIn(asked)
  const agreed = versionIn(result)
  // What the server responded to this very version is its own decision.
  if (!version || !agreed || version === versionIn(first)) return result
  if (!SESSION_VERSIONS.includes(version) || version >= agreed) return result
  return splice(result, [
    { span: topLevelMembers(result)?.at.get('protocolVersion'), text: JSON.stringify(version) },
  ])
}
