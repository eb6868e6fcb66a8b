import type { Schema } from '../lib/schema.ts'

/** The schema of a secret's name: a comma would end the name in a reference. */
export const secretName: Schema<string> = {
  type: 'string',
  pattern: '^[^,\\u0000-\\u001f\\u007f]+$',
  minLength: 1,
  maxLength: 300,
  description: 'No commas and no control characters',
}

/** The schema of the variable that a secret becomes. */
export const secretTarget: Schema<string> = {
  type: 'string',
  pattern: '^[A-Za-z_][A-Za-z0-9_.-]*$',
  description: 'The name of a variable',
}
