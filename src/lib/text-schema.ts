import type { Schema } from './schema.ts'

/**
 * Returns the check of a text by the pattern and the lengths of its schema, so that one statement decides and is
 * documented.
 */
export function toTextCheck(schema: Schema<string>): (text: string) => boolean {
  const { pattern = '', minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema
  const form = new RegExp(pattern, 'u') // as JSON Schema reads it
  return text => text.length >= minLength && text.length <= maxLength && form.test(text)
}

/** The same text or an empty one, which counts as not given: clients made by generators send it. */
export const orEmpty = ({ pattern = '^.*$', minLength: _, ...schema }: Schema<string>): Schema<string> => ({
  ...schema,
  pattern: `^(?:${pattern.slice(1, -1)})?$`,
})

/**
 * One of these words, or an empty text. A pattern and not an enumeration: in the types that generators make of that, a
 * variable of type `string` would not fit, as applications written for ToolHive have it.
 */
export const wordOrEmpty = <const C extends readonly string[]>(choices: C): Schema<C[number] | ''> => ({
  type: 'string',
  pattern: `^(?:${choices.join('|')})?$`,
  description: `One of ${choices.join(', ')}`,
})
