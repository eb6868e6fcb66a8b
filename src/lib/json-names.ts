import { BACKSLASH } from './json-bytes.ts'

/** Up to this number of names comparing each is faster than a set. */
const FEW_NAMES = 16

/** The names of the objects that are open. */
export class OpenNames {
  readonly #text: string
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

  constructor(text: string) {
    this.#text = text
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

  /** Adds the name with this digest, between these positions, to the innermost object. False when it is there already. */
  add(digest: number, start: number, end: number): boolean {
    const count = this.#count
    if (count - this.#first > FEW_NAMES) return this.#addToMany(start, end)
    const digests = this.#digests
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
}

/** The digest, which equal names share, of a name whose digest is this with one more character. */
export const addToDigest = (digest: number, code: number): number =>
  (Math.imul(digest, MULTIPLIER) + code) & MASK
/** Odd, and different in each process, so that names that share a digest cannot be listed in advance. */
const MULTIPLIER = Math.floor(Math.random() * 2 ** 29) * 2 + 1
/** In this range V8 keeps numbers in place. */
const MASK = 0x3fffffff

/** The digest of the name that the key between these positions stands for. */
export function digestOf(text: string, from: number, end: number): number {
  const name = nameAt(text, from, end)
  let digest = 0
  for (let pos = 0; pos < name.length; pos += 1) digest = addToDigest(digest, name.charCodeAt(pos))
  return digest
}

/** Whether a character stands for itself in a name. */
export const isPlain = (code: number): boolean => code >= 0x20 && code <= 0x7e && code !== BACKSLASH

/** The name that the key between these positions stands for: `"a"` and `"\\u0061"` are the same name. */
export function nameAt(text: string, from: number, end: number): string {
  for (let pos = from + 1; pos < end - 1; pos += 1) {
    if (!isPlain(text.charCodeAt(pos)))
      return JSON.parse(Buffer.from(text.slice(from, end), 'latin1').toString('utf8')) as string
  }
  return text.slice(from + 1, end - 1)
}
