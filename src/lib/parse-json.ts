/**
 * `JSON.parse`, but for names that are written with escapes: with those, V8 13.6 (Node 24) takes a name for another one
 * that an object like it has had, when that is how the name begins in the text. `{"na\u006de":1}` is read as
 * `{"na\\u":1}` after an object with the latter. A caller could so hide a member from policies that the server reads. Throws
 * `SyntaxError` where the text is no JSON.
 */
export function parseJson(text: string): unknown {
  const { safe, names } = withoutEscapedNames(text)
  const value: unknown = JSON.parse(safe)
  return names.size ? renamed(value, names) : value
}

/** Takes the place of names, in a form that nobody outside this process can write. */
const PLACEHOLDER = `${crypto.randomUUID()}-`

/** Names with escapes that differ, in one text; more are refused, since each costs far more than a plain one. */
const MOST_NAMES = 10_000

/** The text with a placeholder for each escaped name, and these names by their placeholders. */
function withoutEscapedNames(text: string): { safe: string; names: ReadonlyMap<string, string> } {
  const names = new Map<string, string>()
  if (!text.includes('\\')) return { safe: text, names }
  const placeholders = new Map<string, string>()
  const parts: string[] = []
  let copied = 0
  for (const { index, 0: found, 1: string = '' } of text.matchAll(STRING)) {
    const isName = found.length > string.length
    if (!isName || !string.includes('\\')) continue
    const placeholder = placeholders.get(string) ?? `${PLACEHOLDER}${names.size}`
    placeholders.set(string, placeholder)
    names.set(placeholder, JSON.parse(string) as string)
    if (names.size > MOST_NAMES)
      throw new SyntaxError(`more than ${MOST_NAMES} names are written with escapes`)
    parts.push(text.slice(copied, index), `"${placeholder}"`)
    copied = index + string.length
  }
  return { safe: parts.join('') + text.slice(copied), names }
}

/** A string, and the colon behind it where it is a name. */
const STRING = /("(?:[^"\\]|\\.)*")(?:[ \t\r\n]*:)?/gs

/** Gives the members of all objects in a value their names. */
function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  const root = { value }
  const open: Record<string, unknown>[] = [root]
  for (let parent = open.pop(); parent; parent = open.pop()) {
    for (const [key, child] of Object.entries(parent)) {
      if (typeof child !== 'object' || child === null) continue
      const fit = Array.isArray(child) || !Object.keys(child).some(name => names.has(name))
      const made = fit ? (child as Record<string, unknown>) : fromEntries(child, names)
      if (!fit) define(parent, key, made)
      open.push(made)
    }
  }
  return root.value
}

function fromEntries(object: object, names: ReadonlyMap<string, string>): Record<string, unknown> {
  const made: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(object)) define(made, names.get(name) ?? name, value)
  return made
}

/** An own member, also one that is called `__proto__`. */
const define = (object: object, name: string, value: unknown): void => {
  Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true })
}
