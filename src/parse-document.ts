import type * as t from 'typanion'
import { failures } from './errors.ts'
import { describeJsonError } from './lib/json-error.ts'
import type { Schema } from './lib/schema.ts'
import { findErrors } from './schema-check.ts'

/** Turns JSON text into a type, or fails with `invalid_file` naming the member that is wrong. */
export function parseDocument<T>(
  text: string,
  path: string,
  schema: Schema<T> | t.StrictValidator<unknown, T>,
): T {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw failures.invalid_file({ path, problem: describeJsonError(text) }, { cause: error })
  }
  const problem = findErrors(schema, value)
  if (problem !== undefined) throw failures.invalid_file({ path, problem })
  return value as T
}
