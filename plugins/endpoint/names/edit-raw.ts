import { arrayElements, findSpan, parseRaw, splice, toRaw } from '../../../src/lib/raw-json.ts'

/** Raw text (src/lib/raw-json.ts) of a JSON value, changed. */
export type Edit = (text: string) => string

/** Changes the member at a path, where there is one; all else stays byte for byte. */
export function editMember(text: string, path: readonly string[], edit: Edit): string {
  const span = findSpan(text, { start: 0, end: text.length }, path)
  return span ? splice(text, [{ span, text: edit(text.slice(span.start, span.end)) }]) : text
}

/** Changes the elements of a list. What is no list stays. */
export function editElements(text: string, edit: Edit): string {
  const elements = arrayElements(text)
  return elements ? `[${elements.map(edit).join(',')}]` : text
}

/** Changes a string. What is no string stays. */
export const editString = (text: string, edit: (value: string) => string): string =>
  text.startsWith('"') ? rawString(edit(parseRaw(text) as string)) : text

export const rawString = (value: string): string => toRaw(JSON.stringify(value))
