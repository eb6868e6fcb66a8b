import { type Schema, Validator } from '@cfworker/json-schema'
import { boundedSchema } from './bounded-schema.ts'

/** Keywords that fail only because something within them does. */
const OUTER = new Set(['properties', 'items', 'prefixItems', 'additionalItems', 'allOf'])

/**
 * What a JSON Schema finds wrong with a value, by JSON Pointer. Patterns and formats are left
 * to the server, as is a schema that cannot be read or is very large.
 */
export function checkArguments(schema: unknown, value: unknown): Map<string, string> {
  const problems = new Map<string, string>()
  const bounded = boundedSchema(schema)
  if (bounded === undefined) return problems
  try {
    const { errors } = new Validator(bounded as Schema, '2020-12', false).validate(value)
    for (const { keyword, instanceLocation, error } of errors) {
      const path = decodeURIComponent(instanceLocation.slice(1))
      const [, missing] = keyword === 'required' ? (/required property "(.*)"/.exec(error) ?? []) : []
      if (missing !== undefined) problems.set(`${path}/${missing}`, 'A value is needed.')
      else if (!OUTER.has(keyword) && !problems.has(path)) problems.set(path, error)
    }
  } catch {
    return new Map()
  }
  return problems
}
