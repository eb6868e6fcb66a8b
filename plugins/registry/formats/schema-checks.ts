import * as t from 'typanion'

/** `shape`: what code relies on. `full`: every limit of the published schemas too. */
export type Strictness = 'shape' | 'full'

export type Check = t.StrictValidator<unknown, unknown>
type Members = Record<string, Check>

export const optional = t.isOptional
export const object = (members: Members): Check =>
  t.isObject(members as Record<string, t.AnyStrictValidator>, { extra: t.isUnknown() })
export const list = (item: Check): Check => t.isArray(item)
export const strings = t.isArray(t.isString())
export const string = optional(t.isString())
export const boolean = optional(t.isBoolean())
export const anyMap = t.isRecord(t.isUnknown())
export const port = t.cascade(t.isNumber(), [t.isInteger(), t.isInInclusiveRange(1, 65535)])

/** Checks whose limits count only at the strictness `full`. */
export interface Limits {
  readonly full: boolean
  text(min: number, max: number, pattern?: RegExp): Check
  /** Text of 1 to 255 characters. */
  word(pattern: RegExp): Check
  oneOf(values: readonly string[]): Check
}

export function limitsAt(strictness: Strictness): Limits {
  const full = strictness === 'full'
  const text = (min: number, max: number, pattern?: RegExp): Check =>
    full
      ? t.cascade(t.isString(), [
          t.hasMinLength(min),
          t.hasMaxLength(max),
          ...(pattern ? [t.matchesRegExp(pattern)] : []),
        ])
      : t.isString()
  return {
    full,
    text,
    word: pattern => text(1, 255, pattern),
    oneOf: values => (full ? t.isEnum([...values]) : t.isString()),
  }
}
