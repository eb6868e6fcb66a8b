/** Bytes of the shortest member with its comma: `"":1,`. */
const SHORTEST = 5
/** One byte for each digest that can be told apart here. */
const PLACES = 2 ** 20

/**
 * Counts the names of a text that differ, by their digests. A few that share one are counted once: which these are,
 * nobody outside this process can know.
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

  /** False where there are more than may be. */
  add(digest: number): boolean {
    const place = digest & (PLACES - 1)
    if (this.#seen[place] === 0) {
      this.#seen[place] = 1
      this.#count += 1
    }
    return this.#count <= this.#most
  }
}
