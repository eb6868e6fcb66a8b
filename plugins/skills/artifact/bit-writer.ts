/** More than a block can take. */
const SPACE = 128 * 1024

/** Collects bits as deflate orders them (RFC 1951 section 3.1.1). */
export interface Bits {
  /** Appends the lowest bits of a number, the lowest first. */
  put(value: number, width: number): void
  /** Fills up to a whole byte. */
  align(): void
  /** The whole bytes so far; the last one too when `all`, filled up. */
  take(all: boolean): Buffer
}

export function createBits(): Bits {
  let bytes = Buffer.alloc(SPACE)
  let length = 0
  let pending = 0
  let width = 0
  const flush = () => {
    for (; width >= 8; width -= 8, pending >>>= 8) bytes[length++] = pending & 0xff
  }
  const align = () => {
    if (width > 0) width = 8
    flush()
    width = 0
    pending = 0
  }
  return {
    put(value, count) {
      pending |= value << width
      width += count
      flush()
    },
    align,
    take(all) {
      if (all) align()
      const taken = bytes.subarray(0, length)
      bytes = Buffer.alloc(SPACE)
      length = 0
      return taken
    },
  }
}
