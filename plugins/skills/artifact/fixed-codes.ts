import type { Bits } from './bit-writer.ts'

/** A Huffman code as it is written: the first bit lowest. */
interface Code {
  readonly code: number
  readonly width: number
}

function reversed(code: number, width: number): Code {
  let result = 0
  for (let bit = 0; bit < width; bit++) if (code & (1 << bit)) result |= 1 << (width - 1 - bit)
  return { code: result, width }
}

/** The fixed codes of bytes and lengths (RFC 1951 section 3.2.6). */
const LITERALS: readonly Code[] = Array.from({ length: 288 }, (_, symbol) => {
  if (symbol < 144) return reversed(0x30 + symbol, 8)
  if (symbol < 256) return reversed(0x190 + symbol - 144, 9)
  return symbol < 280 ? reversed(symbol - 256, 7) : reversed(0xc0 + symbol - 280, 8)
})

const NONE: Code = { code: 0, width: 0 }
export const literalCode = (symbol: number): Code => LITERALS[symbol] ?? NONE

interface Range {
  readonly from: number
  readonly extra: number
  readonly code: Code
}

/** Numbers that are written as the code of their range and the place in it. */
function ranges(all: readonly Range[]) {
  const most = Math.max(...all.map(({ from }) => from))
  const byValue: Range[] = []
  for (const range of all) {
    const size = range.from === most ? Math.max(1, 2 ** range.extra) : 2 ** range.extra
    for (let value = range.from; value < range.from + size; value++) byValue[value] = range
  }
  const of = (value: number): Range => byValue[value] ?? { from: value, extra: 0, code: NONE }
  return {
    bits(value: number): number {
      const { code, extra } = of(value)
      return code.width + extra
    },
    put(bits: Bits, value: number): void {
      const { code, extra, from } = of(value)
      bits.put(code.code, code.width)
      if (extra) bits.put(value - from, extra)
    },
  }
}

/** Ranges that follow each other, each with so many extra bits (RFC 1951 section 3.2.5). */
function following(start: number, extras: readonly number[], codeOf: (index: number) => Code): Range[] {
  let from = start
  return extras.map((extra, index) => {
    const range = { from, extra, code: codeOf(index) }
    from += 2 ** extra
    return range
  })
}

const LENGTH_EXTRAS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5]
const DISTANCE_EXTRAS = [0, 0, 0, 0, ...Array.from({ length: 26 }, (_, i) => 1 + Math.floor(i / 2))]

/** The longest length has a code of its own, though the range before it reaches there. */
export const LENGTHS = ranges([
  ...following(3, LENGTH_EXTRAS, index => literalCode(257 + index)),
  { from: 258, extra: 0, code: literalCode(285) },
])
export const DISTANCES = ranges(following(1, DISTANCE_EXTRAS, index => reversed(index, 5)))
