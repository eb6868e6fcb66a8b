import { CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './json-bytes.ts'
import { nameAt } from './json-pass.ts'
import { endOfString } from './parse-json.ts'
import type { Span } from './raw-json.ts'

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
  raw: string,
  member: string,
): { readonly span: Span; readonly elements: readonly NamedElement[] } | undefined {
  // In one piece of memory: reading the characters of a slice takes several times as long.
  const text = Buffer.from(raw, 'latin1').toString('latin1')
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

function skipSpace(text: string, from: number): number {
  let pos = from
  for (;;) {
    const code = text.charCodeAt(pos)
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return pos
    pos += 1
  }
}
