import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './json-bytes.ts'

/** Deeper nesting is refused: the stack that follows it would outgrow the text. */
const MAX_DEPTH = 100_000

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const ESCAPE = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y

/**
 * One pass over raw JSON text (see raw-json.ts). It checks that the text is JSON (RFC 8259), and notes the first name
 * that stands twice in one object: section 4 leaves open which of the two counts, so two readers could disagree.
 *
 * It reads bytes, as those of a string take several times as long.
 */
export class JsonPass {
  /** The first name that stands twice in an object that `skipValue` has passed, at any depth. */
  repeated: string | undefined
  readonly text: string
  readonly #bytes: Uint8Array
  #names: OpenNames | undefined

  constructor(text: string) {
    this.text = text
    this.#bytes = Buffer.from(text, 'latin1')
  }

  /** Position of the first character from here that is no white space. */
  skipSpace(from: number): number {
    const bytes = this.#bytes
    let pos = from
    for (;;) {
      const code = bytes[pos]
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return pos
      pos += 1
    }
  }

  /** End of the string that starts at `from`, or -1. */
  skipString(from: number): number {
    const bytes = this.#bytes
    const { length } = bytes
    if (bytes[from] !== QUOTE) return -1
    for (let pos = from + 1; pos < length; pos += 1) {
      const code = bytes[pos] as number
      if (code > QUOTE && code !== BACKSLASH) continue
      if (code === QUOTE) return pos + 1
      // control characters must be escaped (RFC 8259, section 7)
      if (code < 0x20) return -1
      if (code === BACKSLASH) {
        const end = matchEnd(ESCAPE, this.text, pos + 1)
        if (end < 0) return -1
        pos = end - 1
      }
    }
    return -1
  }

  /** Position behind the colon that follows the name which ends at `from`, or -1. */
  skipColon(from: number): number {
    const colon = this.skipSpace(from)
    return this.#bytes[colon] === COLON ? colon + 1 : -1
  }

  /** End of the value that starts at `from`, or -1 when there is none. Own stack: depth cannot overflow ours. */
  skipValue(from: number): number {
    const bytes = this.#bytes
    const closers: number[] = []
    let pos = from
    for (;;) {
      pos = this.skipSpace(pos)
      const code = bytes[pos]
      if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        const closer = code === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET
        pos = this.skipSpace(pos + 1)
        if (bytes[pos] === closer) pos += 1
        else {
          if (closers.length === MAX_DEPTH) return -1
          closers.push(closer)
          if (closer === CLOSE_BRACE) {
            this.#names ??= new OpenNames(this.text, this.#bytes)
            this.#names.open()
            pos = this.#skipName(pos)
          }
          if (pos < 0) return -1
          continue
        }
      } else pos = this.#skipScalar(pos)
      if (pos < 0) return -1
      pos = this.#afterValue(pos, closers)
      if (pos < 0 || closers.length === 0) return pos
    }
  }

  /** Closes what ends after a value; stands before the next value, or after the outermost one. */
  #afterValue(from: number, closers: number[]): number {
    const bytes = this.#bytes
    let pos = from
    for (;;) {
      if (closers.length === 0) return pos
      const closer = closers[closers.length - 1]
      pos = this.skipSpace(pos)
      const code = bytes[pos]
      if (code === COMMA) return closer === CLOSE_BRACE ? this.#skipName(pos + 1) : pos + 1
      if (code !== closer) return -1
      if (closer === CLOSE_BRACE) this.#names?.close()
      closers.pop()
      pos += 1
    }
  }

  /** Notes the name of a member; position behind its colon, or -1. */
  #skipName(from: number): number {
    const start = this.skipSpace(from)
    const end = this.skipString(start)
    if (end < 0) return -1
    if (this.repeated === undefined && this.#names?.add(start, end) === false)
      this.repeated = nameAt(this.text, start, end)
    return this.skipColon(end)
  }

  #skipScalar(pos: number): number {
    switch (this.#bytes[pos]) {
      case QUOTE:
        return this.skipString(pos)
      case 0x74:
        return this.text.startsWith('true', pos) ? pos + 4 : -1
      case 0x66:
        return this.text.startsWith('false', pos) ? pos + 5 : -1
      case 0x6e:
        return this.text.startsWith('null', pos) ? pos + 4 : -1
      default:
        return matchEnd(NUMBER, this.text, pos)
    }
  }
}

function matchEnd(pattern: RegExp, text: string, pos: number): number {
  pattern.lastIndex = pos
  return pattern.test(text) ? pattern.lastIndex : -1
}

/** Up to this number of names comparing each is faster than a set. */
const FEW_NAMES = 16

/** The names of the objects that are open. */
class OpenNames {
  readonly #text: string
  readonly #bytes: Uint8Array
  /** Of each name: its digest, where it starts and where it ends. Those of the innermost object are last. */
  readonly #digests: number[] = []
  readonly #starts: number[] = []
  readonly #ends: number[] = []
  /** How many of these count. */
  #count = 0
  /** Of each object: how many names were there before it. */
  readonly #firsts: number[] = []
  #first = 0
  /** The names of objects with many, by how many names were there before. */
  readonly #many = new Map<number, Set<string>>()

  constructor(text: string, bytes: Uint8Array) {
    this.#text = text
    this.#bytes = bytes
  }

  open(): void {
    this.#firsts.push(this.#first)
    this.#first = this.#count
  }

  close(): void {
    if (this.#count - this.#first > FEW_NAMES) this.#many.delete(this.#first)
    this.#count = this.#first
    this.#first = this.#firsts.pop() ?? 0
  }

  /** Adds the name between these positions to the innermost object. False when it is there already. */
  add(start: number, end: number): boolean {
    const count = this.#count
    if (count - this.#first > FEW_NAMES) return this.#addToMany(start, end)
    const digests = this.#digests
    const digest = this.#digestOf(start, end)
    for (let at = this.#first; at < count; at += 1) {
      if (digests[at] === digest && this.#nameAt(at) === nameAt(this.#text, start, end)) return false
    }
    digests[count] = digest
    this.#starts[count] = start
    this.#ends[count] = end
    this.#count += 1
    return true
  }

  #addToMany(start: number, end: number): boolean {
    const first = this.#first
    const names = this.#many.get(first) ?? new Set<string>()
    for (let at = first + names.size; at < this.#count; at += 1) names.add(this.#nameAt(at))
    this.#many.set(first, names)
    const { size } = names
    return names.add(nameAt(this.#text, start, end)).size > size
  }

  #nameAt(at: number): string {
    return nameAt(this.#text, this.#starts[at] as number, this.#ends[at] as number)
  }

  /** A number that equal names share. */
  #digestOf(start: number, end: number): number {
    const bytes = this.#bytes
    let digest = 0
    for (let pos = start + 1; pos < end - 1; pos += 1) {
      const code = bytes[pos] as number
      if (!isPlain(code)) return digestOf(nameAt(this.#text, start, end))
      digest = (Math.imul(digest, 31) + code) | 0
    }
    return digest
  }
}

function digestOf(name: string): number {
  let digest = 0
  for (let pos = 0; pos < name.length; pos += 1) digest = (Math.imul(digest, 31) + name.charCodeAt(pos)) | 0
  return digest
}

/** Whether a character stands for itself in a name. */
const isPlain = (code: number): boolean => code >= 0x20 && code <= 0x7e && code !== BACKSLASH

/** The name that the key between these positions stands for: `"a"` and `"\\u0061"` are the same name. */
export function nameAt(text: string, from: number, end: number): string {
  for (let pos = from + 1; pos < end - 1; pos += 1) {
    if (!isPlain(text.charCodeAt(pos)))
      return JSON.parse(Buffer.from(text.slice(from, end), 'latin1').toString('utf8')) as string
  }
  return text.slice(from + 1, end - 1)
}
