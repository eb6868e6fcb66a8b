import { redact } from '../../src/lib/redact.ts'

const HIDDEN = '[redacted]'
const SECRET_NAME =
  /passw(?:or)?d|passphrase|secret|token|authori[sz]ation|(?:^|[-_])auth(?:$|[-_])|api[-_]?key|access[-_]?key|private[-_]?key|credential|cookie|^key$/i
/** Numbers such as `maxTokens` and `progressToken` count and correlate. */
const COUNTER = /tokens?$/i
const MAX_DEPTH = 60

/** The value without what looks like a secret, by the names of members at any depth and by the form of texts. */
export function redactData(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redact(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth > MAX_DEPTH) return HIDDEN
  if (Array.isArray(value)) return value.map(item => redactData(item, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      isHidden(name, item) ? HIDDEN : redactData(item, depth + 1),
    ]),
  )
}

function isHidden(name: string, value: unknown): boolean {
  if (value === null || typeof value === 'boolean' || !SECRET_NAME.test(name)) return false
  return typeof value !== 'number' || !COUNTER.test(name)
}
