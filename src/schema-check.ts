import * as t from 'typanion'
import type { Schema } from './lib/schema.ts'

type Check = t.AnyStrictValidator

/**
 * The check of a document, made of its schema once. Validators of typanion are for documents with rules that a
 * schema cannot say.
 */
export const toCheck = (schema: Schema | Check): Check => {
  if (typeof schema === 'function') return schema
  const check = checks.get(schema) ?? makeCheck(schema)
  checks.set(schema, check)
  return check
}
const checks = new WeakMap<Schema, Check>()

/** Says which members of a value are wrong, in one line; undefined when none is. */
export function findErrors(schema: Schema | Check, value: unknown): string | undefined {
  const errors: string[] = []
  if (toCheck(schema)(value, { errors })) return undefined
  return errors.map(line => line.replace(/^\.: /, '').replace(/^\./, '')).join('; ')
}

function makeCheck(schema: Schema): Check {
  const { type, items = {}, minimum = -Infinity, maximum = Infinity } = schema
  if (schema.enum) return t.isEnum([...schema.enum])
  if (schema.anyOf) return checkAlternatives(schema.anyOf)
  if (schema.format === 'date-time') return isTime
  switch (type) {
    case 'string':
      return checkText(schema)
    case 'boolean':
      return t.isBoolean()
    case 'number':
      return t.isNumber()
    case 'integer':
      return t.cascade(t.isNumber(), [t.isInteger(), t.isInInclusiveRange(minimum, maximum)])
    case 'array':
      return t.isArray(makeCheck(items))
    case 'null':
      return t.isLiteral(null)
    case 'object':
      return checkObject(schema)
    default:
      return t.isUnknown()
  }
}

function checkText({ minLength, maxLength, pattern }: Schema): Check {
  const limits = [
    ...(minLength === undefined ? [] : [t.hasMinLength(minLength)]),
    ...(maxLength === undefined ? [] : [t.hasMaxLength(maxLength)]),
    ...(pattern === undefined ? [] : [t.matchesRegExp(new RegExp(pattern))]),
  ]
  return limits.length ? t.cascade(t.isString(), limits) : t.isString()
}

function checkAlternatives(schemas: readonly Schema[]): Check {
  const [first = {}, ...others] = schemas
  if (others.every(({ type }) => type === 'null')) return t.isNullable(makeCheck(first))
  return t.isOneOf(schemas.map(makeCheck))
}

/** Made without `makeValidator`, so that a command that checks nothing does not load typanion. */
const isTime = ((value: unknown, state?: t.ValidationState) => {
  if (typeof value === 'string' && !Number.isNaN(Date.parse(value))) return true
  state?.errors?.push(`${state.p ?? '.'}: Expected a date (got ${JSON.stringify(value)})`)
  return false
}) as Check

function checkObject({ properties = {}, required, patternProperties = {}, additionalProperties }: Schema) {
  const [values] = Object.values(patternProperties)
  if (values) return t.isRecord(makeCheck(values))
  const members = Object.entries(properties).map(([name, member]) => {
    const check = makeCheck(member)
    return [name, required?.includes(name) ? check : t.isOptional(check)]
  })
  return t.isObject(
    Object.fromEntries(members),
    additionalProperties === false ? {} : { extra: t.isUnknown() },
  )
}
