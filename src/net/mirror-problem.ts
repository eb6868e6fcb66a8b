import { isObject } from '../lib/is-object.ts'
import { HEADER_TOKEN } from './mirrored-arguments.ts'

const ANNOTATION = 'x-mcp-header'
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean'])
/** Schemas that are nested deeper are not looked at. */
const MAX_DEPTH = 100

/** A list of tools may hold many more schemas than any tool needs, and all clients wait while they are looked at. */
const MOST_SCHEMAS = 10_000

/** Keywords of JSON Schema 2020-12 and draft 7 whose value is a schema or a list of schemas. */
const WITH_SCHEMAS: ReadonlySet<string> = new Set([
  ...['items', 'prefixItems', 'contains', 'additionalProperties', 'propertyNames', 'not', 'if', 'then'],
  ...['else', 'unevaluatedProperties', 'unevaluatedItems', 'oneOf', 'anyOf', 'allOf'],
])
/** Those whose value names schemas. */
const WITH_NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  ...['patternProperties', 'dependentSchemas', '$defs', 'definitions'],
])

/**
 * Why the `x-mcp-header` annotations of an input schema are not valid; undefined where they are. Clients over HTTP must
 * leave such a tool out of lists (MCP 2026-07-28, streamable HTTP, schema extension).
 */
export function mirrorProblem(inputSchema: unknown): string | undefined {
  const names = new Set<string>()
  let schemas = 0

  function visit(schema: unknown, path: readonly string[], isReachable: boolean): string | undefined {
    if (!isObject(schema) || path.length > MAX_DEPTH) return undefined
    schemas += 1
    if (schemas > MOST_SCHEMAS) return `its input schema holds more than ${MOST_SCHEMAS} schemas`
    const own = Object.hasOwn(schema, ANNOTATION) ? problemOf(schema, path, isReachable) : undefined
    if (own !== undefined) return own
    for (const keyword of Object.keys(schema)) {
      const value = schema[keyword]
      let problem: string | undefined
      if (keyword === 'properties') problem = visitProperties(value, path, isReachable)
      else if (WITH_SCHEMAS.has(keyword)) problem = visitOthers(value, path)
      else if (WITH_NAMED_SCHEMAS.has(keyword) && isObject(value))
        problem = visitOthers(Object.values(value), path)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  function visitProperties(
    value: unknown,
    path: readonly string[],
    isReachable: boolean,
  ): string | undefined {
    for (const [name, property] of Object.entries(isObject(value) ? value : {})) {
      const problem = visit(property, [...path, name], isReachable)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  /** Schemas, or one, whose values are not at one certain place of the arguments. */
  function visitOthers(schemas: unknown, path: readonly string[]): string | undefined {
    const inner = [...path, '…']
    for (const schema of Array.isArray(schemas) ? schemas : [schemas]) {
      const problem = visit(schema, inner, false)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  function problemOf(
    schema: Record<string, unknown>,
    path: readonly string[],
    isReachable: boolean,
  ): string | undefined {
    const header = schema[ANNOTATION]
    const where = `the header of "${path.join('.')}"`
    if (!isReachable || path.length === 0) return `${where} does not belong to a property`
    if (typeof header !== 'string' || !HEADER_TOKEN.test(header))
      return `${where} is not the name of a header`
    if (!TYPES.has(schema.type)) return `${where} belongs to a value that is not a string, integer or boolean`
    if (names.has(header.toLowerCase())) return `${where} belongs to another argument, too`
    names.add(header.toLowerCase())
    return undefined
  }

  return visit(inputSchema, [], true)
}
