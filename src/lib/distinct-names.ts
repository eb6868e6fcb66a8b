/** Bytes of the shortest member with its comma: `"":1,`. */
const SHORTEST = 5
/** How many digests are told apart; each takes a byte. */
const PLACES = 2 ** 20

/**
 * Counts the distinct names of a text, by their digests. Names that share a digest count once; nobody outside this process
 * can know which names do.
 */
export class DistinctNames {
  readonly #seen = new Uint8Array(PLACES)
  readonly #most: number
  #count = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Undefined where a text of this length cannot have more than `most` names. */
  static for(length: number, most: number): DistinctNames | undefined {
    return length > most * SHORTEST ? new DistinctNames(most) : undefined
  }

  /** False if there are too many. */
  add(digest: number): boolean {
    const place = digest & (PLACES - 1)
    if (this.#seen[place] === 0) {
      this.#seen[place] = 1
      this.#count += 1
    }
    return this.#count <= this.#most
  }
}
