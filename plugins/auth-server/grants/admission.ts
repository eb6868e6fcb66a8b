import { allowedBy, parseAllowed } from '../../auth-in/index.ts'

/** The values by which somebody was let in, by claim. Empty: everybody was. */
export type Admission = Readonly<Record<string, readonly string[]>>

/** Returns by which of their claims somebody may log in; undefined: they may not. It judges an admission in the same way. */
export type Admit = (claims: Readonly<Record<string, unknown>>) => Admission | undefined

/** `rules`: `claim=value`. Without any, everybody may log in. */
export function createAdmit(rules: readonly string[]): Admit {
  const allowed = parseAllowed(rules)
  return claims => allowedBy({ subject: '', claims }, allowed)
}
