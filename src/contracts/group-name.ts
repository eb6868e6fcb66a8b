import type { Schema } from '../lib/schema.ts'

/** The schema of a group's name; such a name is safe as a file name too. */
export const groupName: Schema<string> = {
  type: 'string',
  pattern: '^[a-z0-9_-]+(?: [a-z0-9_-]+)*$',
  minLength: 1,
  maxLength: 100,
  description: 'Lower-case letters, digits, "_", "-" and single spaces between them',
}
