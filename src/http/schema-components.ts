import type { Schema } from '../lib/schema.ts'

/** The named schemas of an OpenAPI document. */
export interface SchemaComponents {
  /** Returns the schema, or a reference if it has a title or a name is given. The same goes for the schemas inside it. */
  place(schema: Schema, name?: string): object
  /** All that was placed, by name. */
  readonly schemas: Readonly<Record<string, object>>
}

export function createSchemaComponents(): SchemaComponents {
  const schemas: Record<string, object> = {}

  function place(schema: Schema, name?: string): object {
    const { title = name, ...plain } = schema
    if (title === undefined) return inside(plain)
    schemas[title] ??= inside(plain)
    return { $ref: `#/components/schemas/${title}` }
  }

  function inside({ properties, items, anyOf, patternProperties, ...rest }: Schema): object {
    const [values] = Object.values(patternProperties ?? {})
    return {
      ...rest,
      ...(properties
        ? {
            properties: Object.fromEntries(
              Object.entries(properties).map(([name, member]) => [name, place(member)]),
            ),
          }
        : {}),
      ...(items ? { items: place(items) } : {}),
      ...(anyOf ? { anyOf: anyOf.map(one => place(one)) } : {}),
      // Any name is allowed: generators know that by this keyword.
      ...(values ? { additionalProperties: place(values) } : {}),
    }
  }

  return { place, schemas }
}
