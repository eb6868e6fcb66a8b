import { failures } from './failures.ts'

/** What keelson itself keeps is named `__keelson_<scope>_<name>`. */
const RESERVED = '__keelson_'

/** Whose secrets they are; no user sees them by the name alone. */
export type Scope = 'registry' | 'workloads' | 'auth'

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
const NAME = /^[^,\u0000-\u001f\u007f]{1,300}$/

/** Fails with `secret_name_invalid`: a comma would end the name in a reference. */
export function assertSecretName(name: string): void {
  if (!NAME.test(name)) throw failures.secret_name_invalid({ name: name.slice(0, 320) })
}

export const isReserved = (name: string): boolean => name.startsWith(RESERVED)

export const scopedName = (scope: Scope, name: string): string => `${RESERVED}${scope}_${name}`

/** The scope and the name in it; undefined for a user's own. Scopes hold no underscore. */
export function splitScoped(key: string): { scope: string; name: string } | undefined {
  const [, scope, name] = /^__keelson_([^_]+)_(.+)$/s.exec(key) ?? []
  return scope === undefined || name === undefined ? undefined : { scope, name }
}
