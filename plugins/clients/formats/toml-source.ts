import { parse } from 'smol-toml'

/** A range of the text: from the first character to behind the last. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** `key = value`, where both stand. */
export interface Pair extends Range {
  readonly path: readonly string[]
  readonly value: Range
}

/** What stands below one `[header]` or `[[header]]`; the first block has no header. */
export interface Block {
  readonly path: readonly string[]
  /** Of `[[header]]`: an element of a list. */
  readonly isElement: boolean
  readonly header: Range
  readonly pairs: readonly Pair[]
}

/** Finds the positions of the parts of TOML text (TOML 1.0). The text was parsed before, so it is valid. */
export function scanToml(text: string): readonly Block[] {
  const blocks: { path: string[]; isElement: boolean; header: Range; pairs: Pair[] }[] = [
    { path: [], isElement: false, header: { start: 0, end: 0 }, pairs: [] },
  ]
  let at = skipTrivia(text, 0)
  while (at < text.length) {
    if (text[at] === '[') {
      const isElement = text[at + 1] === '['
      const key = scanKey(text, at + (isElement ? 2 : 1))
      const end = key.end + (isElement ? 2 : 1)
      blocks.push({ path: key.path, isElement, header: { start: at, end }, pairs: [] })
      at = end
    } else {
      const pair = scanPair(text, at)
      blocks.at(-1)?.pairs.push(pair)
      at = pair.end
    }
    at = skipTrivia(text, at)
  }
  return blocks
}

/** The members of an inline table that begins at `at`. */
export function scanInlineTable(text: string, at: number): readonly Pair[] {
  const pairs: Pair[] = []
  for (
    let i = skipTrivia(text, at + 1, ',');
    text[i] !== '}' && i < text.length;
    i = skipTrivia(text, i, ',')
  ) {
    const pair = scanPair(text, i)
    pairs.push(pair)
    i = pair.end
  }
  return pairs
}

/** The elements of an array that begins at `at`. */
export function scanArray(text: string, at: number): readonly Range[] {
  const elements: Range[] = []
  for (
    let i = skipTrivia(text, at + 1, ',');
    text[i] !== ']' && i < text.length;
    i = skipTrivia(text, i, ',')
  ) {
    const end = skipValue(text, i)
    elements.push({ start: i, end })
    i = end
  }
  return elements
}

/** The next character that is neither white space nor in a comment (nor one of `also`). */
export function skipTrivia(text: string, from: number, also = ''): number {
  let at = from
  while (at < text.length) {
    const char = text[at] ?? ''
    if (char === '#') at = endOfLine(text, at)
    else if (/\s/.test(char) || (also && char === also)) at++
    else break
  }
  return at
}

function endOfLine(text: string, at: number): number {
  const next = text.indexOf('\n', at)
  return next < 0 ? text.length : next
}

function scanPair(text: string, start: number): Pair {
  const key = scanKey(text, start)
  const from = skipTrivia(text, key.end + 1)
  const end = skipValue(text, from)
  return { path: key.path, start, end, value: { start: from, end } }
}

/** A dotted key; `end` is the offset of the `=` or `]` behind it. */
function scanKey(text: string, from: number): { path: string[]; end: number } {
  const path: string[] = []
  let at = from
  for (;;) {
    at = skipTrivia(text, at)
    const quote = text[at]
    if (quote === '"' || quote === "'") {
      const end = skipString(text, at)
      const raw = text.slice(at, end)
      path.push(quote === "'" ? raw.slice(1, -1) : unquote(raw))
      at = end
    } else {
      const bare = /^[A-Za-z0-9_-]+/.exec(text.slice(at, at + 4096))?.[0] ?? ''
      path.push(bare)
      at += bare.length
    }
    at = skipTrivia(text, at)
    if (text[at] !== '.') return { path, end: at }
    at++
  }
}

/** A key in double quotes is written as a string is. */
const unquote = (raw: string): string => String(parse(`key = ${raw}`).key)

function skipString(text: string, start: number): number {
  const quote = text[start] ?? ''
  const triple = text.startsWith(quote.repeat(3), start)
  let at = start + (triple ? 3 : 1)
  while (at < text.length) {
    if (text[at] === '\\' && quote === '"') at += 2
    else if (!triple && text[at] === quote) return at + 1
    else if (triple && text.startsWith(quote.repeat(3), at)) {
      // Up to two quotes may stand before the closing three.
      while (text[at + 3] === quote) at++
      return at + 3
    } else at++
  }
  return at
}

function skipValue(text: string, start: number): number {
  const char = text[start]
  if (char === '"' || char === "'") return skipString(text, start)
  if (char === '[') {
    const last = scanArray(text, start).at(-1)
    return skipTrivia(text, last?.end ?? start + 1, ',') + 1
  }
  if (char === '{') {
    const last = scanInlineTable(text, start).at(-1)
    return skipTrivia(text, last?.end ?? start + 1, ',') + 1
  }
  // A bare value; a date may hold a space.
  const bare = /^[^\n\r#,\]}]*/.exec(text.slice(start, start + 4096))?.[0] ?? ''
  return start + bare.trimEnd().length
}
