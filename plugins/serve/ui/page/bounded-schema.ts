import { type Members, membersOf } from './members.ts'
import { lookUp } from './shape.ts'

/** Schemas of real tools have a few hundred places. */
const MOST_PLACES = 5000
/** Regular expressions, which can take forever on a short text, and names of schemas, which `$ref` does not need here. */
const LEFT_OUT = new Set([
  ...['pattern', 'patternProperties', 'format', '$defs', 'definitions'],
  ...['$id', 'id', '$anchor', '$dynamicAnchor', '$recursiveAnchor', '$dynamicRef', '$recursiveRef'],
])
/** Without patterns for names, nobody knows which members these are about. */
const REST = new Set(['additionalProperties', 'unevaluatedProperties'])
/** Their members are names of the server's, with a schema for each. */
const MAPS = new Set(['properties', 'dependentSchemas'])
/** Their values are data. */
const DATA = new Set(['const', 'enum', 'default', 'examples'])

/**
 * A JSON Schema that can be checked in a time bounded by its size: without regular expressions, and with what `$ref`
 * names in its place. What refers to itself is not checked. Undefined: the schema would be too large.
 */
export function boundedSchema(schema: unknown): unknown {
  let places = 0

  function copy(value: unknown, within: readonly string[]): unknown {
    if (++places > MOST_PLACES) throw new RangeError('The schema is too large.')
    if (Array.isArray(value)) return value.map(one => copy(one, within))
    if (typeof value !== 'object' || value === null) return value
    const { $ref, ...members } = membersOf(value)
    const copied = copyMembers(withoutPatterns(members), within)
    if (typeof $ref !== 'string' || within.includes($ref)) return copied
    const named = copy(lookUp($ref, schema) ?? true, [...within, $ref])
    return { ...copied, allOf: [...(Array.isArray(copied.allOf) ? copied.allOf : []), named] }
  }

  const copyMembers = (members: Members, within: readonly string[]): Members =>
    Object.fromEntries(
      Object.entries(members).map(([name, value]) => {
        if (DATA.has(name)) return [name, value]
        return [name, MAPS.has(name) ? copyMap(membersOf(value), within) : copy(value, within)]
      }),
    )

  const copyMap = (map: Members, within: readonly string[]): Members =>
    Object.fromEntries(Object.entries(map).map(([name, value]) => [name, copy(value, within)]))

  try {
    return copy(schema, [])
  } catch {
    return undefined
  }
}

const withoutPatterns = (schema: Members): Members =>
  Object.fromEntries(
    Object.entries(schema).filter(
      ([name]) => !LEFT_OUT.has(name) && !(schema.patternProperties && REST.has(name)),
    ),
  )
