import { failures } from '../../src/errors.ts'
import { describeJsonError } from '../../src/lib/json-error.ts'

/** A JSON object; fails with `usage` naming the flag it came from. */
export function parseArguments(text: string, from: string): Record<string, unknown> {
  const wrong = (problem: string) =>
    failures.usage({
      text: `${from} is not a JSON object: ${problem}`,
      hint: `For example: '{"name":"value"}'`,
    })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw wrong(describeJsonError(text))
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw wrong(`it is ${value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`}.`)
  return value as Record<string, unknown>
}
