import { OPEN_BRACE, OPEN_BRACKET } from './json-bytes.ts'
import { nameAt } from './json-names.ts'
import { JsonPass } from './json-pass.ts'
import type { PassValue, Span } from './raw-json.ts'

/** An object in a list, and the values of those of its members that are asked for most. */
export interface ListElement extends Span {
  readonly name: Span | undefined
  readonly annotations: Span | undefined
  readonly inputSchema: Span | undefined
}

/** A member of an object that should be a list. */
export interface NamedList extends Span {
  /** Undefined where it is not a list of objects. */
  readonly elements: readonly ListElement[] | undefined
}

/** Lists by their names. Positions are those in the text of the object that they are members of. */
export type NamedLists = ReadonlyMap<string, NamedList>

/** What passes an object and notes those of its members in `lists` that have one of these names. */
export const noteLists =
  (names: ReadonlySet<string>, lists: Map<string, NamedList>): PassValue =>
  (pass, from) => {
    if (pass.text.charCodeAt(from) !== OPEN_BRACE) return pass.skipValue(from)
    return pass.skipMembers(from, (key, start) => {
      const name = nameAt(pass.text, key, pass.skipString(key))
      if (!names.has(name)) return pass.skipValue(start)
      const { end, elements } = readElements(pass, start, from)
      lists.set(name, { start: start - from, end: end - from, elements })
      return end
    })
  }

/** The lists with one of these names in the text of an object; none where it is not one. */
export function listsOf(text: string, names: ReadonlySet<string>): NamedLists {
  const lists = new Map<string, NamedList>()
  const pass = new JsonPass(text)
  noteLists(names, lists)(pass, pass.skipSpace(0))
  return lists
}

/** @param origin what positions are counted from */
function readElements(
  pass: JsonPass,
  from: number,
  origin: number,
): { end: number; elements: readonly ListElement[] | undefined } {
  const { text } = pass
  if (text.charCodeAt(from) !== OPEN_BRACKET) return { end: pass.skipValue(from), elements: undefined }
  const elements: ListElement[] = []
  let areObjects = true
  const end = pass.skipElements(from, start => {
    areObjects &&= text.charCodeAt(start) === OPEN_BRACE
    if (!areObjects) return pass.skipValue(start)
    const element = readElement(pass, start, origin)
    elements.push(element)
    return element.end + origin
  })
  return { end, elements: areObjects ? elements : undefined }
}

function readElement(pass: JsonPass, from: number, origin: number): ListElement {
  let name: Span | undefined
  let annotations: Span | undefined
  let inputSchema: Span | undefined
  const end = pass.skipMembers(from, (key, start) => {
    const end = pass.skipValue(start)
    const span = { start: start - origin, end: end - origin }
    switch (nameAt(pass.text, key, pass.skipString(key))) {
      case 'name':
        name = span
        break
      case 'annotations':
        annotations = span
        break
      case 'inputSchema':
        inputSchema = span
        break
    }
    return end
  })
  return { start: from - origin, end: end - origin, name, annotations, inputSchema }
}
