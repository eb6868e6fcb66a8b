import { isObject } from '../../../src/lib/is-object.ts'
import { parseJson } from '../../../src/lib/parse-json.ts'
import { readTemplate } from './template/render.ts'

/**
 * Renders the templates in the arguments of a step. What a template makes is text; where the schema wants a number, a
 * boolean, a list or an object, it is read as one. Fails with `TemplateProblem`.
 *
 * @param schema the JSON Schema of the tool's arguments, as far as it is known
 */
export function renderArguments(value: unknown, data: unknown, schema: unknown): unknown {
  if (typeof value === 'string') {
    return value.includes('{{') ? toType(readTemplate(value).render(data), schema) : value
  }
  if (Array.isArray(value)) {
    return value.map(element => renderArguments(element, data, memberSchema(schema, 'items')))
  }
  if (!isObject(value)) return value
  const properties = memberSchema(schema, 'properties')
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      renderArguments(member, data, memberSchema(properties, name)),
    ]),
  )
}

const memberSchema = (schema: unknown, name: string): unknown =>
  isObject(schema) && Object.hasOwn(schema, name) ? schema[name] : undefined

const JSON_TYPES = new Set(['number', 'integer', 'boolean', 'array', 'object', 'null'])

/** The value that a text stands for, of the type that a schema names; the text itself where it is no such value. */
export function toType(text: string, schema: unknown): unknown {
  const named = memberSchema(schema, 'type')
  const types = Array.isArray(named) ? named : [named]
  if (types.includes('string') || !types.some(type => JSON_TYPES.has(type))) return text
  try {
    const value = parseJson(text)
    return types.some(type => isOfType(value, type)) ? value : text
  } catch {
    return text
  }
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isObject(value)
    case 'null':
      return value === null
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}
