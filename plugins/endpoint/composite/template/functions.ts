import { isObject } from '../../../../src/lib/is-object.ts'
import { parseJson } from '../../../../src/lib/parse-json.ts'
import { AbsentValue, TemplateProblem } from './tokens.ts'

type TemplateFunction = (...values: readonly unknown[]) => unknown

/** The functions of templates: those of Go's text/template that concern data, and `json`, `quote` and `fromJson`. */
export const FUNCTIONS: ReadonlyMap<string, TemplateFunction> = new Map<string, TemplateFunction>([
  ['not', value => !isTrue(value)],
  ['len', value => sizeOf(value)],
  ['index', (value, ...keys) => keys.reduce(elementOf, value)],
  ['slice', (value, start = 0, end = undefined) => sliceOf(value, Number(start), end as number | undefined)],
  ['print', (...values) => values.map(printed).join('')],
  ['println', (...values) => `${values.map(printed).join(' ')}\n`],
  ['printf', (format, ...values) => formatted(printed(format), values)],
  ['eq', (value, ...others) => others.some(other => isEqual(value, other))],
  ['ne', (value, other) => !isEqual(value, other)],
  ['lt', (value, other) => compare(value, other) < 0],
  ['le', (value, other) => compare(value, other) <= 0],
  ['gt', (value, other) => compare(value, other) > 0],
  ['ge', (value, other) => compare(value, other) >= 0],
  ['urlquery', (...values) => encodeURIComponent(values.map(printed).join('')).replaceAll('%20', '+')],
  ['json', value => JSON.stringify(value ?? null)],
  ['quote', value => JSON.stringify(printed(value))],
  ['fromJson', value => fromJson(printed(value))],
])

/** `and` and `or` look at no more values than decide, so they are not functions of values. */
export const FUNCTION_NAMES: ReadonlySet<string> = new Set(['and', 'or', ...FUNCTIONS.keys()])

/** False, 0, nothing, and what is empty are not true. */
export function isTrue(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  if (isObject(value)) return Object.keys(value).length > 0
  return Boolean(value)
}

/** A value as text; lists and objects as JSON. Fails for a value that is not there. */
export function printed(value: unknown): string {
  if (value === undefined || value === null) {
    throw new AbsentValue('a value is not there; `if` and `or` work with values that may be absent')
  }
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A member of an object; undefined where there is none. */
export const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined

function elementOf(value: unknown, key: unknown): unknown {
  if (!Array.isArray(value)) return memberOf(value, String(key))
  const index = Number(key)
  if (!Number.isInteger(index) || index < 0 || index >= value.length) {
    throw new TemplateProblem(`index ${printed(key)} of a list with ${value.length} elements`)
  }
  return value[index]
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length
  if (isObject(value)) return Object.keys(value).length
  throw new TemplateProblem('`len` of something that is no text, list or object')
}

function sliceOf(value: unknown, start: number, end: number | undefined): unknown {
  if (typeof value === 'string' || Array.isArray(value)) return value.slice(start, end)
  throw new TemplateProblem('`slice` of something that is no text or list')
}

function isEqual(one: unknown, other: unknown): boolean {
  if (isObject(one) || isObject(other) || Array.isArray(one) || Array.isArray(other)) {
    throw new TemplateProblem('lists and objects cannot be compared')
  }
  return (one ?? null) === (other ?? null)
}

function compare(one: unknown, other: unknown): number {
  const isNumbers = typeof one === 'number' && typeof other === 'number'
  const isTexts = typeof one === 'string' && typeof other === 'string'
  if (!isNumbers && !isTexts) throw new TemplateProblem('only two numbers or two texts can be put in order')
  return one < other ? -1 : one > other ? 1 : 0
}

/** The verbs of Go's fmt that concern JSON values. */
function formatted(format: string, values: readonly unknown[]): string {
  let at = 0
  return format.replaceAll(/%(%|\.(\d+)f|[a-zA-Z])/g, (verb, letter: string, digits?: string) => {
    if (letter === '%') return '%'
    if (at >= values.length) throw new TemplateProblem(`\`printf\` has no value for ${verb}`)
    const value = values[at]
    at += 1
    if (digits !== undefined) return Number(value).toFixed(Math.min(Number(digits), 100))
    if (letter === 'q') return JSON.stringify(printed(value))
    if (letter === 'd') return String(Math.trunc(Number(value)))
    if ('svtfg'.includes(letter)) return printed(value)
    throw new TemplateProblem(`\`printf\` does not know ${verb}`)
  })
}

function fromJson(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    throw new TemplateProblem('`fromJson` of a text that is not JSON')
  }
}
