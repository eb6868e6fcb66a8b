import { redact } from '../../../src/lib/redact.ts'

/** Most bytes of a label, in UTF-8. */
const MOST_BYTES = 128
/** Most values of one label, so that callers cannot make metrics without end. */
const MOST_VALUES = 200
/** The label of all values that have none of their own. */
export const OTHER = '_OTHER'

/** The values of one label. They are cut, and what looks like a secret in them is hidden. */
export interface BoundedValues {
  /** The label of a value; `_OTHER` where it has not been learnt. */
  of(value: string): string
  /** The same, once the value is known to be no invention; `_OTHER` for each new one after the first 200. */
  learn(value: string): string
}

export function createBoundedValues(first: readonly string[] = []): BoundedValues {
  const known = new Set<string>(first)
  return {
    of(value) {
      const cut = cutBytes(redact(value))
      return known.has(cut) ? cut : OTHER
    },
    learn(value) {
      const cut = cutBytes(redact(value))
      if (!known.has(cut) && known.size >= first.length + MOST_VALUES) return OTHER
      known.add(cut)
      return cut
    },
  }
}

/** The beginning of a text, at most 128 bytes of whole characters. */
function cutBytes(text: string): string {
  if (text.length <= MOST_BYTES / 3) return text
  const bytes = Buffer.from(text.slice(0, MOST_BYTES))
  if (bytes.length <= MOST_BYTES) return bytes.toString()
  // A character that was cut is read as U+FFFD.
  return bytes
    .subarray(0, MOST_BYTES)
    .toString()
    .replace(/\uFFFD+$/, '')
}
