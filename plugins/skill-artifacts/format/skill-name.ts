import type { Schema } from '../../../src/lib/schema.ts'
import { toTextCheck } from '../../../src/lib/text-schema.ts'

const LONGEST = 64

/** The schema of a skill's name (Agent Skills specification, "Frontmatter"). */
export const skillName: Schema<string> = {
  type: 'string',
  pattern: '^[a-z0-9]+(?:-[a-z0-9]+)*$',
  minLength: 1,
  maxLength: LONGEST,
  description: 'Lower-case letters and digits, with single "-" between them',
}

export const isSkillName = toTextCheck(skillName)

/** Returns why the name of a skill is refused; undefined when it is allowed. */
export function nameProblem(name: string): string | undefined {
  if (isSkillName(name)) return undefined
  if (name === '') return 'it is empty'
  if (name.length > LONGEST) return `it is longer than ${LONGEST} characters`
  if (!/^[a-z0-9-]+$/.test(name)) return 'it has other characters than a-z, 0-9 and "-"'
  if (/^-|-$/.test(name)) return 'it begins or ends with "-"'
  return 'it has "--"'
}

/** Returns a similar name that is allowed; undefined when the text has no letter or digit. */
export function toSkillName(text: string): string | undefined {
  const name = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST)
    .replace(/^-|-$/g, '')
  return name === '' ? undefined : name
}
