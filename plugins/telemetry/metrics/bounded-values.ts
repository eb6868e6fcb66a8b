import { redact } from '../../../src/lib/redact.ts'

/** Most bytes of a label, in UTF-8. */
const MOST_BYTES = 128
/** Most values of one label, so that callers cannot make metrics without end. */
const MOST_VALUES = 200
const OTHER = '_OTHER'

/**
 * Returns a function that hides what looks like a secret in values of strangers, cuts them, and returns `_OTHER` for each
 * new one after the first 200.
 */
export function createBoundedValues(): (value: string) => string {
  const known = new Set<string>()
  return value => {
    const cut = cutBytes(redact(value))
    if (known.has(cut)) return cut
    if (known.size >= MOST_VALUES) return OTHER
    known.add(cut)
    return cut
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
