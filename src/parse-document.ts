import type * as t from 'typanion'
import { failures } from './errors.ts'
import { describeJsonError } from './lib/json-error.ts'

/** Turns JSON text into a type, or fails with `invalid_file` naming the member that is wrong. */
export function parseDocument<T>(text: string, path: string, schema: t.StrictValidator<unknown, T>): T {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw failures.invalid_file({ path, problem: describeJsonError(text) }, { cause: error })
  }
  const errors: string[] = []
  if (!schema(value, { errors })) {
    throw failures.invalid_file({
      path,
      problem: errors.map(line => line.replace(/^\.: /, '').replace(/^\./, '')).join('; '),
    })
  }
  return value
}
