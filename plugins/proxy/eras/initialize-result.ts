import { findSpan, memberText, memberValue, toRaw } from '../../../src/lib/raw-json.ts'
import { SESSION_VERSIONS } from '../revisions/index.ts'
import { SERVER_INFO } from './modern-meta.ts'
import { withoutTasks } from './without-tasks.ts'

/** The version for a client: the one that it asked for where it is known, else the newest with `initialize`. */
export function negotiateVersion(paramsText: string): string {
  const asked = String(memberValue(paramsText, 'protocolVersion'))
  return SESSION_VERSIONS.includes(asked) ? asked : (SESSION_VERSIONS.at(-1) ?? asked)
}

/**
 * The result of `initialize` made of that of `server/discover`. Its capabilities stay: what a server of 2026-07-28
 * offers with `subscriptions/listen` and the log level of a request, the proxy offers in the way of the client.
 *
 * @param options.name of the server when it does not say who it is
 */
export function toInitializeResult(
  discovered: string,
  { paramsText, name }: { paramsText: string; name: string },
): string {
  const span = findSpan(discovered, { start: 0, end: discovered.length }, ['_meta', SERVER_INFO])
  const unnamed = toRaw(JSON.stringify({ name, version: 'unknown' }))
  const instructions = memberText(discovered, 'instructions')
  const members = [
    `"protocolVersion":${JSON.stringify(negotiateVersion(paramsText))}`,
    `"capabilities":${withoutTasks(memberText(discovered, 'capabilities') ?? '{}')}`,
    `"serverInfo":${span ? discovered.slice(span.start, span.end) : unnamed}`,
    ...(instructions === undefined ? [] : [`"instructions":${instructions}`]),
  ]
  return `{${members.join(',')}}`
}
