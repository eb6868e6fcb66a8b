import { redact } from '../../../src/lib/redact.ts'

const SECRET = /password|token|secret|key|auth|credential|private/i
const MOST_VALUE = 100
const MOST_ALL = 200

/** The arguments of a call as one text: `a=1, b=x`. Values are cut at 100 characters, all at 200; secrets are hidden. */
export function shownArguments(args: Readonly<Record<string, unknown>>): string {
  let shown = ''
  for (const [name, value] of Object.entries(args)) {
    shown += `${shown && ', '}${name}=${SECRET.test(name) ? '[REDACTED]' : shownValue(value)}`
    if (shown.length > MOST_ALL) return `${shown.slice(0, MOST_ALL)}...`
  }
  return shown
}

function shownValue(value: unknown): string {
  // Within objects, names of members hide secrets, too.
  const text = typeof value === 'string' ? redact(value) : JSON.stringify(hidden(value))
  return text.length > MOST_VALUE ? `${text.slice(0, MOST_VALUE)}...` : text
}

const MOST_DEPTH = 8

function hidden(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redact(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth === MOST_DEPTH) return '...'
  if (Array.isArray(value)) return value.slice(0, MOST_VALUE).map(item => hidden(item, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      SECRET.test(name) ? '[REDACTED]' : hidden(item, depth + 1),
    ]),
  )
}
