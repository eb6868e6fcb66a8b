import { failures } from '../errors.ts'

/** The value of a member that takes one of some words; undefined when it is empty or absent. Fails with `usage`. */
export function readChoice<const C extends readonly string[]>(
  text: string | undefined,
  choices: C,
  member: string,
): C[number] | undefined {
  if (text === undefined || text === '' || choices.includes(text)) return text || undefined
  throw failures.usage({ text: `${member} is one of ${choices.join(', ')}, not "${text}".` })
}
