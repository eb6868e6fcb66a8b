import { isDeepStrictEqual } from 'node:util'
import { TooManyNames } from '../../../../src/lib/parse-json.ts'
import { findSpan, mergeRaw, parseRaw, topLevelMembers, toRaw } from '../../../../src/lib/raw-json.ts'
import { type Capabilities, toCapabilities } from './client-sessions.ts'

/** Capabilities are nested no deeper in any revision; what lies deeper is not merged. */
const MAX_DEPTH = 4

/** The most bytes of capabilities that a server process is told. Beyond that, the longest of other clients are left out. */
const MAX_TOLD = 32 * 1024

/**
 * The parameters of `initialize` that a server process gets: those of one client, with the capabilities that the
 * other connected clients have besides. A server must not be told of capabilities that no client has, since it then
 * asks for what nobody can do.
 */
export function withCapabilitiesOf(others: Iterable<Capabilities>, paramsText: string): string {
  const span = findSpan(paramsText, { start: 0, end: paramsText.length }, ['capabilities'])
  const own = span ? paramsText.slice(span.start, span.end) : '{}'
  const known = toCapabilities(parseRaw(own))
  const added = [...others].filter(other => !isDeepStrictEqual(other, known) && !isDeepStrictEqual(other, {}))
  if (added.length === 0) return paramsText
  const all = isDeepStrictEqual(known, {}) ? added : [known, ...added]
  const told = (all.length > 1 ? all.map(withExplicitForm) : all).map(one => toRaw(JSON.stringify(one)))
  try {
    return mergeRaw(
      paramsText,
      `{"capabilities":${together(
        own,
        [...new Set(told)].sort((a, b) => a.length - b.length),
      )}}`,
    )
  } catch (error) {
    // The capabilities of the others are left out, so that no client can keep a process from being initialised.
    if (error instanceof TooManyNames) return paramsText
    throw error
  }
}

function together(own: string, others: Iterable<string>): string {
  let sum = own
  for (const one of others) {
    const more = union(sum, one)
    if (more.length > MAX_TOLD) break
    sum = more
  }
  return sum
}

/** The same for a process that goes on with these clients alone: what the first client of all had does not count. */
export const withOnlyCapabilitiesOf = (clients: Iterable<Capabilities>, paramsText: string): string =>
  withCapabilitiesOf(clients, mergeRaw(paramsText, '{"capabilities":{}}'))

/** Whether a server that was told of some capabilities knows all that a client has. */
export const covers = (told: unknown, has: unknown): boolean =>
  !isObject(has) ||
  (isObject(told) && Object.entries(has).every(([name, value]) => name in told && covers(told[name], value)))

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** Beside a client with URLs only, an empty object no longer means forms (MCP 2025-11-25, elicitation). */
function withExplicitForm(capabilities: Capabilities): Capabilities {
  const { elicitation } = capabilities
  const isOld = elicitation && elicitation.form === undefined && elicitation.url === undefined
  return isOld ? { ...capabilities, elicitation: { ...elicitation, form: {} } } : capabilities
}

/** Every member of both objects. Where both have one that is no object, it is that of `ours`. */
function union(ours: string, theirs: string, depth = 0): string {
  const mine = topLevelMembers(ours)
  const others = topLevelMembers(theirs)
  if (!mine || !others || depth >= MAX_DEPTH) return ours
  const members = [...others.at].map(([name, { key, start, end }]) => {
    const own = mine.at.get(name)
    const value = theirs.slice(start, end)
    return `${key}:${own ? union(ours.slice(own.start, own.end), value, depth + 1) : value}`
  })
  return mergeRaw(ours, `{${members.join(',')}}`)
}
