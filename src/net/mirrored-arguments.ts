import { toFieldValue } from './mcp-name.ts'

/** An argument of a tool that a header repeats, as its input schema says with `x-mcp-header` (SEP-2243). */
export interface MirroredArgument {
  /** In lower case, e.g. `mcp-param-region`. */
  readonly header: string
  readonly path: readonly string[]
}

/** The most bytes of names and values that one request repeats. */
export const MOST_HEADER_BYTES = 8 * 1024
/** Headers of one tool. */
const MOST_ARGUMENTS = 50
/** `1*tchar` (RFC 9110, section 5.1); servers refuse longer heads. */
export const HEADER_TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/
const MAX_DEPTH = 20

/** The arguments that headers repeat. Only properties that a chain of `properties` reaches may be. */
export const mirroredArguments = (inputSchema: unknown): readonly MirroredArgument[] =>
  find(inputSchema, []).slice(0, MOST_ARGUMENTS)

function find(schema: unknown, path: readonly string[]): MirroredArgument[] {
  const properties = memberOf(schema, 'properties')
  if (typeof properties !== 'object' || properties === null || path.length > MAX_DEPTH) return []
  return Object.entries(properties).flatMap(([name, property]) => {
    const header = memberOf(property, 'x-mcp-header')
    const own =
      typeof header === 'string' && HEADER_TOKEN.test(header)
        ? [{ header: `mcp-param-${header.toLowerCase()}`, path: [...path, name] }]
        : []
    return [...own, ...find(property, [...path, name])]
  })
}

/** Headers that repeat texts. Those that do not fit into `MOST_HEADER_BYTES` are left out: servers refuse long heads. */
export function repeatInHeaders(
  texts: readonly (readonly [header: string, text: string | undefined])[],
): Record<string, string> {
  const headers: Record<string, string> = {}
  let left = MOST_HEADER_BYTES
  for (const [header, text] of texts) {
    if (text === undefined || text.length > left) continue
    const value = toFieldValue(text)
    const bytes = header.length + value.length
    if (bytes > left) continue
    left -= bytes
    headers[header] = value
  }
  return headers
}

/** How a header shows a value, before `toFieldValue`; undefined where it shows none. */
export function mirroredText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return String(value)
  return Number.isSafeInteger(value) ? String(value) : undefined
}

export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
