const LONGEST = 64

/** Returns why the name of a skill is refused (Agent Skills specification, "Frontmatter"); undefined when it is allowed. */
export function nameProblem(name: string): string | undefined {
  if (name === '') return 'it is empty'
  if (name.length > LONGEST) return `it is longer than ${LONGEST} characters`
  if (!/^[a-z0-9-]+$/.test(name)) return 'it has other characters than a-z, 0-9 and "-"'
  if (/^-|-$/.test(name)) return 'it begins or ends with "-"'
  if (name.includes('--')) return 'it has "--"'
  return undefined
}

export const isSkillName = (name: string): boolean => nameProblem(name) === undefined

/** Returns a similar name that is allowed; undefined when the text has no letter or digit. */
export function toSkillName(text: string): string | undefined {
  const name = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST)
    .replace(/^-|-$/g, '')
  return name === '' ? undefined : name
}
