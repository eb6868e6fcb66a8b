import { DistinctNames } from './distinct-names.ts'
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
import { addToDigest, digestOf, isPlain, nameAt, OpenNames } from './json-names.ts'
import { MOST_NAMES } from './parse-json.ts'

/** Deeper nesting is refused: the stack that follows it would outgrow the text. */
const MAX_DEPTH = 100_000

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/**
 * One pass over raw JSON text (see raw-json.ts). It checks that the text is JSON (RFC 8259), and notes the first name
 * that stands twice in one object: section 4 leaves open which of the two counts, so two readers could disagree.
 *
 * It reads bytes, as those of a string take several times as long.
 */
export class JsonPass {
  /** The first name that stands twice in an object that was passed, at any depth. */
  repeated: string | undefined
  /** The names with escapes, as they are written. */
  #escaped: Set<string> | undefined
  readonly text: string
  readonly #bytes: Uint8Array
  readonly #names: OpenNames
  readonly #distinct: DistinctNames | undefined
  #hasTooManyDistinct = false

  /** @param mostDistinct how many distinct names a text may have; by default any number */
  constructor(text: string, mostDistinct = Number.POSITIVE_INFINITY) {
    this.text = text
    this.#distinct = DistinctNames.for(text.length, mostDistinct)
    this.#names = new OpenNames(text)
    this.#bytes = Buffer.from(text, 'latin1')
  }

  /** Position of the first character from here that is no white space. */
  skipSpace(from: number): number {
    const code = this.#bytes[from]
    return code !== undefined && code > 0x20 ? from : skipSpaces(this.#bytes, from)
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
        const escaped = lengthOfEscape(bytes, pos + 1)
        if (escaped === 0) return -1
        pos += escaped
      }
    }
    return -1
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
      if (closer === CLOSE_BRACE) this.#names.close()
      closers.pop()
      pos += 1
    }
  }

  /** Notes the name of a member; position behind its colon, or -1. Makes its digest on the way, which is faster. */
  #skipName(from: number): number {
    const bytes = this.#bytes
    const start = this.skipSpace(from)
    if (bytes[start] !== QUOTE) return -1
    let digest = 0
    let pos = start + 1
    for (; pos < bytes.length; pos += 1) {
      const code = bytes[pos] as number
      if (code === QUOTE || !isPlain(code)) break
      digest = addToDigest(digest, code)
    }
    const isWhole = bytes[pos] === QUOTE
    const end = isWhole ? pos + 1 : this.skipString(start)
    if (end < 0) return -1
    if (!isWhole) {
      digest = digestOf(this.text, start, end)
      this.#noteEscaped(start, end)
      if (this.hasTooManyNames) return -1
    }
    if (this.#distinct?.add(digest) === false) {
      this.#hasTooManyDistinct = true
      return -1
    }
    if (this.repeated === undefined && !this.#names.add(digest, start, end))
      this.repeated = nameAt(this.text, start, end)
    const colon = this.skipSpace(end)
    return bytes[colon] === COLON ? colon + 1 : -1
  }

  #noteEscaped(start: number, end: number): void {
    const name = this.text.slice(start, end)
    if (!name.includes('\\')) return
    this.#escaped ??= new Set()
    this.#escaped.add(name)
  }

  /** Whether the pass has ended early, since the text has more distinct names than it may, or than `parseJson` reads. */
  get hasTooManyNames(): boolean {
    return this.#hasTooManyDistinct || (this.#escaped !== undefined && this.#escaped.size > MOST_NAMES)
  }

  /**
   * End of the object that starts at `from`, or -1. `pass` gets where a name and its value start, passes the value and
   * returns its end, or -1.
   */
  skipMembers(from: number, pass: (key: number, start: number) => number): number {
    if (this.#bytes[from] !== OPEN_BRACE) return -1
    let pos = this.skipSpace(from + 1)
    if (this.#bytes[pos] === CLOSE_BRACE) return pos + 1
    this.#names.open()
    for (;;) {
      const key = this.skipSpace(pos)
      const colon = this.#skipName(key)
      const end = colon < 0 ? -1 : pass(key, this.skipSpace(colon))
      if (end < 0) return -1
      pos = this.skipSpace(end)
      if (this.#bytes[pos] === CLOSE_BRACE) break
      if (this.#bytes[pos] !== COMMA) return -1
      pos += 1
    }
    this.#names.close()
    return pos + 1
  }

  /** As `skipMembers`, for an array; `pass` gets where an element starts. */
  skipElements(from: number, pass: (start: number) => number): number {
    if (this.#bytes[from] !== OPEN_BRACKET) return -1
    let pos = this.skipSpace(from + 1)
    if (this.#bytes[pos] === CLOSE_BRACKET) return pos + 1
    for (;;) {
      const end = pass(this.skipSpace(pos))
      if (end < 0) return -1
      pos = this.skipSpace(end)
      if (this.#bytes[pos] === CLOSE_BRACKET) return pos + 1
      if (this.#bytes[pos] !== COMMA) return -1
      pos += 1
    }
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

function skipSpaces(bytes: Uint8Array, from: number): number {
  let pos = from
  for (; pos < bytes.length; pos += 1) {
    const code = bytes[pos]
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) break
  }
  return pos
}

function matchEnd(pattern: RegExp, text: string, pos: number): number {
  pattern.lastIndex = pos
  return pattern.test(text) ? pattern.lastIndex : -1
}

/** How many bytes of an escape follow its backslash; 0 where these are none (RFC 8259, section 7). */
function lengthOfEscape(bytes: Uint8Array, from: number): number {
  switch (bytes[from]) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f: // /
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return 1
    case 0x75: // u
      for (let pos = from + 1; pos <= from + 4; pos += 1) if (!isHexDigit(bytes[pos] as number)) return 0
      return 5
    default:
      return 0
  }
}

const isHexDigit = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66)
