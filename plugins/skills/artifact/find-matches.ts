/** How far back a repetition may be (RFC 1951 section 2). */
export const WINDOW = 32_768

const SHORTEST = 3
const LONGEST = 258
/** So many places where the same three bytes stand are compared. */
const TRIES = 48
const HASHES = 65_536

/**
 * Finds repetitions: bytes become tokens, each a byte (below 256) or a length and a distance
 * (`length * WINDOW * 2 + distance`). It remembers what stood in the blocks before. Integers only, so
 * that every machine finds the same.
 */
export function createMatcher(): (block: Uint8Array) => Float64Array {
  const heads = new Int32Array(HASHES).fill(-1)
  const before = new Int32Array(WINDOW).fill(-1)
  let window = new Uint8Array(0)
  /** The position of the window's first byte. */
  let base = 0

  const hashAt = (at: number): number =>
    Math.imul(
      (window[at] ?? 0) | ((window[at + 1] ?? 0) << 8) | ((window[at + 2] ?? 0) << 16),
      0x9e3779b1,
    ) >>> 16

  function remember(at: number): void {
    const hash = hashAt(at)
    before[(base + at) % WINDOW] = heads[hash] ?? -1
    heads[hash] = base + at
  }

  /** The longest repetition of what stands at a place; the nearest of several. */
  function longestAt(at: number): { length: number; distance: number } {
    const most = Math.min(LONGEST, window.length - at)
    let length = 0
    let distance = 0
    let candidate = heads[hashAt(at)] ?? -1
    for (let tries = 0; tries < TRIES && candidate >= base && base + at - candidate <= WINDOW; tries++) {
      const start = candidate - base
      let same = 0
      while (same < most && window[start + same] === window[at + same]) same++
      if (same > length) {
        length = same
        distance = at - start
        if (length === most) break
      }
      const next = before[candidate % WINDOW] ?? -1
      if (next >= candidate) break // overwritten since
      candidate = next
    }
    return { length, distance }
  }

  return block => {
    const kept = window.subarray(Math.max(0, window.length - WINDOW))
    base += window.length - kept.length
    const joined = new Uint8Array(kept.length + block.length)
    joined.set(kept)
    joined.set(block, kept.length)
    window = joined
    const tokens = new Float64Array(block.length)
    let count = 0
    for (let at = kept.length; at < window.length; ) {
      const canMatch = at + SHORTEST <= window.length
      const { length, distance } = canMatch ? longestAt(at) : { length: 0, distance: 0 }
      const isMatch = length >= SHORTEST
      tokens[count++] = isMatch ? length * WINDOW * 2 + distance : (window[at] ?? 0)
      const end = at + (isMatch ? length : 1)
      for (; at < end; at++) if (at + SHORTEST <= window.length) remember(at)
    }
    return tokens.subarray(0, count)
  }
}
