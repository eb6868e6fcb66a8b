import { isObject } from '../../../src/lib/is-object.ts'
import { clean } from '../../../src/lib/printable.ts'
import type { Tool } from './listed-tools.ts'

/** What a model reads of a tool before it asks for more; in characters. */
const [LONGEST_LINE, LONGEST_SIGNATURE] = [160, 300]

/** The first sentence of the description, or the title, on one line. */
export function lineOf({ title, description }: Pick<Tool, 'title' | 'description'>): string {
  const text = clean(description || title)
    .replaceAll(/\s+/g, ' ')
    .trim()
  const sentence = /^.{20,}?[.!?](?=\s)/.exec(text)?.[0] ?? text
  return shorten(sentence, LONGEST_LINE)
}

/** The name with its arguments, as TypeScript would write them: `create_issue(repo: string, labels?: string[])`. */
export function signatureOf({ name, inputSchema }: Pick<Tool, 'name' | 'inputSchema'>): string {
  const { properties, required } = isObject(inputSchema) ? inputSchema : {}
  const needed = new Set(Array.isArray(required) ? required : [])
  const entries = Object.entries(isObject(properties) ? properties : {})
  const ordered = entries.toSorted(([a], [b]) => Number(needed.has(b)) - Number(needed.has(a)))
  const parts = ordered.map(
    ([key, schema]) => `${clean(key)}${needed.has(key) ? '' : '?'}: ${typeOf(schema)}`,
  )
  const all = parts.join(', ')
  return `${name}(${shorten(all, LONGEST_SIGNATURE)})`
}

function typeOf(schema: unknown): string {
  if (!isObject(schema)) return 'any'
  if (Array.isArray(schema.enum))
    return shorten(schema.enum.map(value => clean(JSON.stringify(value))).join('|'), 80)
  if (schema.type === 'array') return `${typeOf(schema.items)}[]`
  return typeof schema.type === 'string' ? clean(schema.type) : 'any'
}

const shorten = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text
