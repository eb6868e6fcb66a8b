/** One argument of a tool, as the form asks for it. */
export interface Field {
  readonly name: string
  readonly isRequired: boolean
  /** What may be typed. */
  readonly hint: string
  readonly preset: string
  /** Turns what was typed into the argument; fails with a sentence. */
  read(text: string): unknown
}

interface Schema {
  readonly type?: unknown
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly description?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

/** The arguments that a JSON Schema names. A schema that names none gets one field for all of them. */
export function readFields(schema: unknown): Field[] {
  const { properties, required = [] } = (schema ?? {}) as Schema
  if (!properties) return []
  return Object.entries(properties).map(([name, member]) =>
    toField(name, member ?? {}, required.includes(name)),
  )
}

function toField(name: string, schema: Schema, isRequired: boolean): Field {
  const { type, enum: choices, default: preset, description } = schema
  const [kind, read] = READERS[String(type)] ?? AS_JSON
  const what = choices?.every(choice => typeof choice === 'string') ? choices.join(' | ') : kind
  const hint = [isRequired ? `${what}, required` : what, description].filter(Boolean).join('; ')
  const shown = preset === undefined ? '' : typeof preset === 'string' ? preset : JSON.stringify(preset)
  return { name, isRequired, hint, preset: shown, read }
}

type Reader = readonly [kind: string, read: (text: string) => unknown]

function readNumber(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new Error('is not a number')
  return value
}

function readBoolean(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  throw new Error('is neither true nor false')
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('is not JSON')
  }
}

const AS_JSON: Reader = ['JSON', readJson]

const READERS: Readonly<Record<string, Reader>> = {
  string: ['text', text => text],
  number: ['number', readNumber],
  integer: ['number', readNumber],
  boolean: ['true or false', readBoolean],
}

/** The arguments that were typed, or the first problem. A field that is left empty is left out. */
export function readArguments(
  fields: readonly Field[],
  typed: Readonly<Record<string, string>>,
): { args: Record<string, unknown> } | { problem: string; field: number } {
  const args: Record<string, unknown> = {}
  for (const [at, { name, isRequired, read }] of fields.entries()) {
    const text = typed[name] ?? ''
    if (text === '' && isRequired) return { problem: `${name} is required`, field: at }
    if (text === '') continue
    try {
      args[name] = read(text)
    } catch (error) {
      return { problem: `${name} ${(error as Error).message}`, field: at }
    }
  }
  return { args }
}
