import { type Optional, optional, type Schema, text } from '../../../src/lib/schema.ts'
import { toCheck } from '../../../src/schema-check.ts'

/** `shape`: what code relies on. `full`: every limit of the published schemas too. */
export type Strictness = 'shape' | 'full'

/** A text whose limits count only at the strictness `full`; lengths in characters. */
export const limited = (minLength: number, maxLength: number, pattern?: RegExp): Schema<string> => ({
  ...text,
  minLength,
  maxLength,
  ...(pattern ? { pattern: pattern.source } : {}),
})

/** Text of 1 to 255 characters. */
export const word = (pattern: RegExp): Schema<string> => limited(1, 255, pattern)

/** A text that is one of these at the strictness `full`. */
export const choice = (...values: readonly string[]): Schema<string> => ({ ...text, enum: values })

const EXPECTED = Symbol('expected')

/** Marks a member that may be absent, but not at the strictness `full`. */
export const expected = <S extends Schema>(schema: S): S & Optional => ({
  ...optional(schema),
  [EXPECTED]: true,
})

/** The check of a schema at one strictness. */
export const checkAt = (strictness: Strictness, schema: Schema): ReturnType<typeof toCheck> =>
  toCheck(strictness === 'full' ? withExpected(schema) : withoutLimits(schema))

function withExpected(schema: Schema): Schema {
  const names = Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
    EXPECTED in member ? [name] : [],
  )
  const required = [...(schema.required ?? []), ...names]
  return { ...schema, ...within(schema, withExpected), ...(required.length ? { required } : {}) }
}

function withoutLimits(schema: Schema): Schema {
  if (schema.type === 'string') return text
  return { ...schema, ...within(schema, withoutLimits) }
}

/** The schemas in a schema, each changed. */
function within(
  { items, properties, patternProperties }: Schema,
  change: (schema: Schema) => Schema,
): Pick<Schema, 'items' | 'properties' | 'patternProperties'> {
  const each = (members: Readonly<Record<string, Schema>>) =>
    Object.fromEntries(Object.entries(members).map(([name, member]) => [name, change(member)]))
  return {
    ...(items ? { items: change(items) } : {}),
    ...(properties ? { properties: each(properties) } : {}),
    ...(patternProperties ? { patternProperties: each(patternProperties) } : {}),
  }
}
