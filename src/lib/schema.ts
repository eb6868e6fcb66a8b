/**
 * JSON Schema as data, with the type of the values it describes. One schema is the source of the TypeScript
 * type, of the check of a stored document and of the OpenAPI document.
 */
export interface Schema<T = unknown> {
  /** The name that the OpenAPI document gives it. */
  readonly title?: string
  readonly type?: 'string' | 'boolean' | 'integer' | 'number' | 'array' | 'object' | 'null'
  readonly description?: string
  readonly format?: 'date-time'
  readonly minLength?: number
  readonly maxLength?: number
  /** Of a text, as a regular expression. */
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly enum?: readonly string[]
  readonly items?: Schema
  readonly minItems?: number
  readonly required?: readonly string[]
  readonly properties?: Members
  /** False where members that are not named are refused. */
  readonly additionalProperties?: boolean
  readonly patternProperties?: Members
  /** What the names of members must be. */
  readonly propertyNames?: Schema<string>
  readonly anyOf?: readonly Schema[]
  /** Present only in types. */
  readonly [VALUE]?: T
}
declare const VALUE: unique symbol

const OPTIONAL = Symbol('optional')
export interface Optional {
  readonly [OPTIONAL]: true
}

/** Members of an object by name. */
export type Members = Readonly<Record<string, Schema>>

/** The type of the values that a schema describes. */
export type TypeOf<S extends Schema> = S extends Schema<infer T> ? T : never

/** The type of an object with these members. */
export type ObjectOf<M extends Members> = Flat<
  { [K in keyof M as M[K] extends Optional ? never : K]: TypeOf<M[K]> } & {
    [K in keyof M as M[K] extends Optional ? K : never]?: TypeOf<M[K]>
  }
>
type Flat<T> = { -readonly [K in keyof T]: T[K] }

export const text: Schema<string> = { type: 'string' }
/** A text that is not empty. */
export const filled: Schema<string> = { type: 'string', minLength: 1 }
export const bool: Schema<boolean> = { type: 'boolean' }
export const number: Schema<number> = { type: 'number' }
export const integer: Schema<number> = { type: 'integer' }
export const anything: Schema = {}
/** A point in time, in a form that `Date.parse` reads. */
export const time: Schema<string> = { type: 'string', format: 'date-time' }
/** A port; 0 stands for one that is chosen later. */
export const port: Schema<number> = { type: 'integer', minimum: 0, maximum: 65535 }

export const list = <T>(items: Schema<T>): Schema<T[]> => ({ type: 'array', items })

export const texts = list(text)

/** An object with any names, whose values are all alike. */
export const map = <T>(values: Schema<T>): Schema<Record<string, T>> => ({
  type: 'object',
  patternProperties: { '^.*$': values },
})

export const textMap = map(text)

/** The same whose names have a form of their own. */
export const mapOf = <T>(names: Schema<string>, values: Schema<T>): Schema<Record<string, T>> => ({
  ...map(values),
  propertyNames: names,
})

export const oneOf = <const C extends readonly string[]>(choices: C): Schema<C[number]> => ({
  enum: choices,
})

export const either = <A, B>(one: Schema<A>, other: Schema<B>): Schema<A | B> => ({ anyOf: [one, other] })

export const nullable = <T>(schema: Schema<T>): Schema<T | null> => either(schema, { type: 'null' })

/** Marks a member of an object that may be absent. */
export const optional = <S extends Schema>(schema: S): S & Optional => ({ ...schema, [OPTIONAL]: true })

/** The schema with a text for people, which the OpenAPI document shows. */
export const described = <S extends Schema>(schema: S, description: string): S & Described => ({
  ...schema,
  description,
})

/** Has a text for people. */
export interface Described {
  readonly description: string
}

/** The schema under a name of its own in the OpenAPI document; for those that several operations share. */
export const named = <S extends Schema>(title: string, schema: S): S => ({ ...schema, title })

/** For `object`: members that are not named are refused. */
export const closed = { additionalProperties: false }

/** Some of the members. */
export const pick = <M extends Members, K extends keyof M & string>(members: M, ...names: K[]): Pick<M, K> =>
  Object.fromEntries(names.map(name => [name, members[name]])) as Pick<M, K>

/** An object with these members; others are kept unless it is `closed`. */
export function object<M extends Members>(
  properties: M,
  options: Pick<Schema, 'additionalProperties' | 'description'> = {},
): Schema<ObjectOf<M>> {
  const required = Object.keys(properties).filter(name => !(OPTIONAL in (properties[name] as Schema)))
  return { type: 'object', ...(required.length ? { required } : {}), properties, ...options }
}
