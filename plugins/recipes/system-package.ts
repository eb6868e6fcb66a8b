import type { Schema } from '../../src/lib/schema.ts'

/** The schema of the name of a system package. */
export const systemPackage: Schema<string> = {
  type: 'string',
  pattern: '^[A-Za-z0-9][A-Za-z0-9._+\\-]*$',
  minLength: 1,
  maxLength: 128,
  description: 'The name of a system package',
}
