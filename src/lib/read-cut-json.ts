/** How deep what is read may be nested. */
const MAX_DEPTH = 200

/**
 * Reads JSON of which only the beginning may be there (`isCut`). A text that is cut ends with `…`; an unfinished number, name or
 * literal is left out. Undefined where the text is not the beginning of JSON, or nested too deeply.
 */
export function readCutJson(text: string, { isCut }: { isCut: boolean }): unknown {
  if (!isCut) return tryParse(text)
  const end = findEnd(text)
  return end && tryParse(text.slice(0, end.at) + end.closing)
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Where the text can be ended, and what has to follow there. */
function findEnd(text: string): { at: number; closing: string } | undefined {
  const open: string[] = []
  /** The last place behind a whole value or an opening bracket, and the brackets that were open there. */
  let safe = { at: 0, closing: '' }
  const keep = (at: number) => {
    safe = { at, closing: open.toReversed().join('') }
  }
  let isName = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string
    if (char === '"') {
      const end = endOfText(text, at)
      if (end === undefined) {
        if (isName) return safe
        return { at: lastWhole(text, at), closing: `…"${open.toReversed().join('')}` }
      }
      at = end
      if (!isName) keep(end + 1)
    } else if (char === '{' || char === '[') {
      open.push(char === '{' ? '}' : ']')
      if (open.length > MAX_DEPTH) return undefined
      keep(at + 1)
      isName = char === '{'
    } else if (char === '}' || char === ']') {
      if (open.pop() !== char) return undefined
      keep(at + 1)
      isName = false
    } else if (char === ',') {
      const previous = text.slice(safe.at, at).trim()
      if (previous !== '') keep(at)
      isName = open.at(-1) === '}'
    } else if (char === ':') isName = false
  }
  return open.length > 0 ? safe : undefined
}

/** The closing quote of the text that begins at `from`. */
function endOfText(text: string, from: number): number | undefined {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at
  }
  return undefined
}

/** Where a text without an end can be ended: not inside an escape or between two halves of a character. */
function lastWhole(text: string, from: number): number {
  const body = text.slice(from + 1)
  const whole = /^(?:[^\\]|\\u[0-9a-fA-F]{4}|\\[^u])*/.exec(body)?.[0].length ?? 0
  return from + 1 + whole
}
