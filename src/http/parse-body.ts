import { describeJsonError } from '../lib/json-error.ts'
import { httpFailures } from './failures.ts'

/**
 * Reads a request body, whatever its Content-Type says. `null` and an object's members that are null
 * count as not given, which is what clients made by generators mean by them.
 */
export function parseBody(bytes: Buffer | undefined, { optional }: { optional: boolean }): unknown {
  const text = bytes?.toString('utf8').trim() ?? ''
  if (text === '') {
    if (optional) return {}
    throw httpFailures.body_invalid({ problem: 'it is empty, and should be a JSON object' })
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw httpFailures.body_invalid({ problem: describe(text) }, { cause: error })
  }
  return withoutNulls(value ?? {}, 0)
}

/** The parser that finds the place is recursive, and a caller may nest as deep as the body is long. */
function describe(text: string): string {
  try {
    return describeJsonError(text)
  } catch {
    return 'it is not JSON'
  }
}

const DEEPEST = 50

function withoutNulls(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth > DEEPEST) throw httpFailures.body_invalid({ problem: `it is nested more than ${DEEPEST} deep` })
  if (Array.isArray(value)) return value.map(item => withoutNulls(item, depth + 1))
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, member]) => member !== null && key !== '__proto__')
      .map(([key, member]) => [key, withoutNulls(member, depth + 1)]),
  )
}
