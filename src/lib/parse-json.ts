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

/** Takes the place of names, in a form that nobody outside this process can write. Chosen for the first one. */
let placeholderStart: string | undefined

/** A text has more names with escapes than are read. */
export class TooManyNames extends SyntaxError {
  override readonly name = 'TooManyNames'
  constructor() {
    super(`more than ${MOST_NAMES} names are written with escapes`)
  }
}

/** Names with escapes that differ, in one text; more are refused, since each costs far more than a plain one. */
export const MOST_NAMES = 10_000

/** The text with a placeholder for each escaped name, and these names by their placeholders. */
function withoutEscapedNames(text: string): { safe: string; names: ReadonlyMap<string, string> } {
  const names = new Map<string, string>()
  const placeholders = new Map<string, string>()
  const parts: string[] = []
  let copied = 0
  // Only strings have backslashes in JSON, so the quote before the first one of a string is where it starts.
  for (let at = text.indexOf('\\'); at >= 0; ) {
    const start = text.lastIndexOf('"', at)
    const end = start < 0 ? -1 : endOfString(text, start)
    if (end < 0) break
    at = text.indexOf('\\', end)
    COLON.lastIndex = end
    if (!COLON.test(text)) continue
    const string = text.slice(start, end)
    placeholderStart ??= `${crypto.randomUUID()}-`
    const placeholder = placeholders.get(string) ?? `${placeholderStart}${names.size}`
    placeholders.set(string, placeholder)
    names.set(placeholder, JSON.parse(string) as string)
    if (names.size > MOST_NAMES) throw new TooManyNames()
    parts.push(text.slice(copied, start), `"${placeholder}"`)
    copied = end
  }
  return { safe: parts.join('') + text.slice(copied), names }
}

const COLON = /[ \t\r\n]*:/y

/** End of the string that starts at `from` in valid JSON; -1 where it has none. */
export function endOfString(text: string, from: number): number {
  for (let end = from; ; ) {
    end = text.indexOf('"', end + 1)
    if (end < 0) return -1
    let before = end - 1
    while (text.charCodeAt(before) === BACKSLASH) before -= 1
    // A quote after an odd number of backslashes is escaped.
    if ((end - before) % 2 === 1) return end + 1
  }
}

const BACKSLASH = 0x5c

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
