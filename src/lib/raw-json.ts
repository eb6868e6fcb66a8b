import { parseJson } from './parse-json.ts'

/**
 * Reads JSON text without turning it into values, so that what is passed on stays byte for byte the same:
 * `JSON.parse` would round 12345678901234567890 and turn 1.0 into 1.
 *
 * All text here is "raw": one character per byte (latin1), as `Buffer.toString('latin1')` gives it. JSON's own
 * characters are ASCII and never occur inside a longer UTF-8 sequence, so scanning bytes is safe.
 */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Where the value of a member stands. */
export interface Member extends Span {
  /** The name as it was written, quotes and escapes too. */
  readonly key: string
}

/** The members of one object: where each value stands. Of a repeated name the last counts, as in `JSON.parse`. */
export interface Members {
  readonly at: ReadonlyMap<string, Member>
  /** Names that occur more than once. */
  readonly repeated: ReadonlySet<string>
}

/** Deeper nesting is refused: the stack that follows it would outgrow the text. */
const MAX_DEPTH = 100_000

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const ESCAPE = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y

const matchEnd = (pattern: RegExp, text: string, pos: number): number => {
  pattern.lastIndex = pos
  return pattern.test(text) ? pattern.lastIndex : -1
}

function skipSpace(text: string, from: number): number {
  let pos = from
  for (;;) {
    const code = text.charCodeAt(pos)
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return pos
    pos += 1
  }
}

/** End of the string that starts at `from`, or -1. */
function skipString(text: string, from: number): number {
  const { length } = text
  for (let pos = from + 1; pos < length; pos += 1) {
    const code = text.charCodeAt(pos)
    if (code === QUOTE) return pos + 1
    // control characters must be escaped (RFC 8259, section 7)
    if (code < 0x20) return -1
    if (code === BACKSLASH) {
      const end = matchEnd(ESCAPE, text, pos + 1)
      if (end < 0) return -1
      pos = end - 1
    }
  }
  return -1
}

/** As `skipString`, where the text is known to be valid: looks for the quote alone. */
function endOfString(text: string, from: number): number {
  for (let end = from; ; ) {
    end = text.indexOf('"', end + 1)
    if (end < 0) return -1
    let before = end - 1
    while (text.charCodeAt(before) === BACKSLASH) before -= 1
    // A quote after an odd number of backslashes is escaped.
    if ((end - before) % 2 === 1) return end + 1
  }
}

function skipScalar(text: string, pos: number): number {
  switch (text.charCodeAt(pos)) {
    case QUOTE:
      return skipString(text, pos)
    case 0x74:
      return text.startsWith('true', pos) ? pos + 4 : -1
    case 0x66:
      return text.startsWith('false', pos) ? pos + 5 : -1
    case 0x6e:
      return text.startsWith('null', pos) ? pos + 4 : -1
    default:
      return matchEnd(NUMBER, text, pos)
  }
}

/** Position after `"key" :`, or -1. */
function skipKey(text: string, from: number): number {
  const pos = skipSpace(text, from)
  if (text.charCodeAt(pos) !== QUOTE) return -1
  const end = skipString(text, pos)
  if (end < 0) return -1
  const colon = skipSpace(text, end)
  return text.charCodeAt(colon) === COLON ? colon + 1 : -1
}

/** End of the value that starts at `from`, or -1 when there is none. Own stack: depth cannot overflow ours. */
function skipValue(text: string, from: number): number {
  const closers: number[] = []
  let pos = from
  for (;;) {
    pos = skipSpace(text, pos)
    const code = text.charCodeAt(pos)
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      const closer = code === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET
      pos = skipSpace(text, pos + 1)
      if (text.charCodeAt(pos) === closer) pos += 1
      else {
        if (closers.length === MAX_DEPTH) return -1
        closers.push(closer)
        if (closer === CLOSE_BRACE) pos = skipKey(text, pos)
        if (pos < 0) return -1
        continue
      }
    } else pos = skipScalar(text, pos)
    if (pos < 0) return -1
    pos = afterValue(text, pos, closers)
    if (pos < 0 || closers.length === 0) return pos
  }
}

/** Closes what ends after a value; stands before the next value, or after the outermost one. */
function afterValue(text: string, from: number, closers: number[]): number {
  let pos = from
  for (;;) {
    const closer = closers.at(-1)
    if (closer === undefined) return pos
    pos = skipSpace(text, pos)
    const code = text.charCodeAt(pos)
    if (code === COMMA) return closer === CLOSE_BRACE ? skipKey(text, pos + 1) : pos + 1
    if (code !== closer) return -1
    closers.pop()
    pos += 1
  }
}

/** The members of the object that starts at `from` (white space allowed); undefined when it is not a valid one. */
function readObject(text: string, from: number): { members: Members; end: number } | undefined {
  const at = new Map<string, Member>()
  const repeated = new Set<string>()
  let pos = skipSpace(text, from)
  if (text.charCodeAt(pos) !== OPEN_BRACE) return undefined
  pos = skipSpace(text, pos + 1)
  if (text.charCodeAt(pos) === CLOSE_BRACE) return { members: { at, repeated }, end: pos + 1 }
  for (;;) {
    const key = skipSpace(text, pos)
    const value = skipKey(text, key)
    if (value < 0) return undefined
    const start = skipSpace(text, value)
    const end = skipValue(text, start)
    if (end < 0) return undefined
    const keyText = text.slice(key, skipString(text, key))
    const name = nameOf(keyText)
    if (at.has(name)) repeated.add(name)
    at.set(name, { key: keyText, start, end })
    pos = skipSpace(text, end)
    const code = text.charCodeAt(pos)
    if (code === CLOSE_BRACE) return { members: { at, repeated }, end: pos + 1 }
    if (code !== COMMA) return undefined
    pos += 1
  }
}

/** The name that a key stands for; `"a"` and `"\\u0061"` are the same name. */
const nameOf = (keyText: string): string => nameAt(keyText, 0, keyText.length)

/** The name that the key between these positions stands for. */
function nameAt(text: string, from: number, end: number): string {
  for (let pos = from + 1; pos < end - 1; pos += 1) {
    const code = text.charCodeAt(pos)
    if (code < 0x20 || code > 0x7e || code === BACKSLASH) return parseRaw(text.slice(from, end)) as string
  }
  return text.slice(from + 1, end - 1)
}

/**
 * The first name that stands twice in one object of a valid JSON text, at any depth; undefined when none does.
 *
 * RFC 8259, section 4, leaves open which of two members counts, so a policy and a server could disagree.
 */
export function repeatedMember(text: string): string | undefined {
  /** The names of each object that is open, innermost last. */
  const open: ReturnType<typeof createNameList>[] = []
  /** Lists of objects that are closed, for the next ones: most documents have thousands of small objects. */
  const spare: typeof open = []
  for (let pos = 0; pos < text.length; pos += 1) {
    const code = text.charCodeAt(pos)
    if (code === OPEN_BRACE) open.push(spare.pop() ?? createNameList())
    else if (code === CLOSE_BRACE) {
      const closed = open.pop()
      closed?.clear()
      if (closed) spare.push(closed)
    } else if (code === QUOTE) {
      const end = endOfString(text, pos)
      if (end < 0) return undefined
      // In valid JSON a string before a colon is a name.
      const names = text.charCodeAt(skipSpace(text, end)) === COLON ? open.at(-1) : undefined
      if (names) {
        const name = nameAt(text, pos, end)
        if (!names.add(name)) return name
      }
      pos = end - 1
    }
  }
  return undefined
}

/** Up to this number of names comparing each is faster than a set. */
const FEW_NAMES = 12

function createNameList() {
  const few: string[] = []
  let many: Set<string> | undefined
  return {
    /** False when the name is there already. */
    add(name: string): boolean {
      if (many ? many.has(name) : few.includes(name)) return false
      if (many) many.add(name)
      else if (few.push(name) > FEW_NAMES) many = new Set(few)
      return true
    },
    clear(): void {
      few.length = 0
      many = undefined
    },
  }
}

/** The members of a text that is one valid JSON object and nothing else; undefined otherwise. */
export function topLevelMembers(text: string): Members | undefined {
  const object = readObject(text, 0)
  return object && skipSpace(text, object.end) === text.length ? object.members : undefined
}

/** Where the value under a path of member names stands, inside the object at `span`. */
export function findSpan(text: string, span: Span | undefined, path: readonly string[]): Span | undefined {
  let found = span
  for (const name of path) found = found && readObject(text, found.start)?.members.at.get(name)
  return found
}

/** The elements of a text that is one valid JSON array and nothing else; undefined otherwise. */
export function arrayElements(text: string): string[] | undefined {
  let pos = skipSpace(text, 0)
  if (text.charCodeAt(pos) !== OPEN_BRACKET || skipSpace(text, skipValue(text, pos)) !== text.length)
    return undefined
  const elements: string[] = []
  pos = skipSpace(text, pos + 1)
  while (text.charCodeAt(pos) !== CLOSE_BRACKET) {
    const end = skipValue(text, pos)
    elements.push(text.slice(pos, end))
    pos = skipSpace(text, end)
    if (text.charCodeAt(pos) === COMMA) pos = skipSpace(text, pos + 1)
  }
  return elements
}

/** An element of a list: its text, and its name if it has one. */
export interface NamedElement {
  readonly text: string
  readonly name: string | undefined
}

/**
 * The list that is a member of an object: its elements, with the value of their member `name` where that is a string.
 * Undefined when there is no such list, or an element is not an object. The text is known to be valid, so this checks
 * nothing and is fast.
 */
export function namedElements(
  text: string,
  member: string,
): { readonly span: Span; readonly elements: readonly NamedElement[] } | undefined {
  const { value: start } = walkObject(text, skipSpace(text, 0), { member, stops: true })
  if (text.charCodeAt(start) !== OPEN_BRACKET) return undefined
  const elements: NamedElement[] = []
  let pos = skipSpace(text, start + 1)
  while (text.charCodeAt(pos) !== CLOSE_BRACKET) {
    if (text.charCodeAt(pos) !== OPEN_BRACE) return undefined
    const { end, value } = walkObject(text, pos, { member: 'name', stops: false })
    const isText = text.charCodeAt(value) === QUOTE
    const name = isText ? nameAt(text, value, endOfString(text, value)) : undefined
    elements.push({ text: text.slice(pos, end), name })
    pos = skipSpace(text, end)
    if (text.charCodeAt(pos) === COMMA) pos = skipSpace(text, pos + 1)
  }
  return { span: { start, end: pos + 1 }, elements }
}

/** Where the object that starts at `from` ends, and where the value of one of its members starts; -1 without it. */
function walkObject(
  text: string,
  from: number,
  { member, stops }: { member: string; stops: boolean },
): { end: number; value: number } {
  const { length } = text
  let depth = 0
  let value = -1
  for (let pos = from; pos < length; pos += 1) {
    const code = text.charCodeAt(pos)
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth -= 1
      if (depth === 0) return { end: pos + 1, value }
    } else if (code === QUOTE) {
      const end = endOfString(text, pos)
      if (end < 0) break
      const colon = depth === 1 && value < 0 ? skipSpace(text, end) : 0
      if (colon && text.charCodeAt(colon) === COLON && nameAt(text, pos, end) === member) {
        value = skipSpace(text, colon + 1)
        if (stops) return { end: value, value }
      }
      pos = end - 1
    }
  }
  return { end: length, value }
}

/** The same text in one piece of memory: reading the characters of a slice takes several times as long. */
export const flat = (text: string): string => Buffer.from(text, 'latin1').toString('latin1')

/** Puts other text in place of spans, which must not overlap. */
export function splice(text: string, edits: readonly { span: Span | undefined; text: string }[]): string {
  let result = ''
  let done = 0
  const wanted = edits.flatMap(edit => (edit.span ? [{ ...edit.span, with: edit.text }] : []))
  for (const edit of wanted.sort((a, b) => a.start - b.start)) {
    result += text.slice(done, edit.start) + edit.with
    done = edit.end
  }
  return result + text.slice(done)
}

/** Raw text of a string of ours. */
export const toRaw = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

/** The value that raw text stands for. Only for what we need to understand, never for what is passed on. */
export const parseRaw = (text: string): unknown => parseJson(Buffer.from(text, 'latin1').toString('utf8'))

/** Members of `base` with those of `over` put in or in place; both raw objects. Values are not merged. */
export function mergeRaw(base: string, over: string): string {
  const values = new Map<string, string>()
  for (const text of [base, over]) {
    for (const [name, { key, start, end }] of topLevelMembers(text)?.at ?? []) {
      values.set(name, `${key}:${text.slice(start, end)}`)
    }
  }
  return `{${[...values.values()].join(',')}}`
}
