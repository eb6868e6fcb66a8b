import { type RawObject, type Span, topLevelMembers } from './raw-json.ts'

/** Of larger objects the members are not kept, but read again when they are asked for again. */
const MOST_KEPT = 100

/** Where members stand in the objects of one raw text (see raw-json.ts). Each object is read when it is first asked for. */
export class MemberIndex {
  readonly #text: string
  #objects: Map<number, RawObject> | undefined

  constructor(text: string) {
    this.#text = text
  }

  /** The index of a text where the object at `start`, which is the same, stands `shift` characters later. */
  moved(text: string, start: number, shift: number): MemberIndex {
    const index = new MemberIndex(text)
    const object = this.#objects?.get(start)
    if (object) index.#objects = new Map([[start + shift, object]])
    return index
  }

  /** Where the value under a path of member names stands, inside the object at `span`. */
  find(span: Span | undefined, path: readonly string[]): Span | undefined {
    let found = span
    for (const name of path) {
      const object = found && this.objectAt(found)
      const member = object?.at.get(name)
      if (!found || !member) return undefined
      found = { start: found.start + member.start, end: found.start + member.end }
    }
    return found
  }

  /** The object at `span`; undefined if the value there is none. */
  objectAt({ start, end }: Span): RawObject | undefined {
    const known = this.#objects?.get(start)
    if (known) return known
    const text = this.#text.slice(start, end)
    const at = text.startsWith('{') ? topLevelMembers(text)?.at : undefined
    if (!at) return undefined
    const object = { text, at }
    if (at.size <= MOST_KEPT) {
      this.#objects ??= new Map()
      this.#objects.set(start, object)
    }
    return object
  }
}
