import { secretName } from '../../src/contracts/secret-name.ts'
import { toTextCheck } from '../../src/lib/text-schema.ts'
import { failures } from './failures.ts'

/** What keelson itself keeps is named `__keelson_<scope>_<name>`. */
const RESERVED = '__keelson_'

/** Whose secrets they are; no user sees them by the name alone. */
export type Scope = 'registry' | 'workloads' | 'auth'

const isSecretName = toTextCheck(secretName)

/** Fails with `secret_name_invalid`. */
export function assertSecretName(name: string): void {
  if (!isSecretName(name)) throw failures.secret_name_invalid({ name: name.slice(0, 320) })
}

export const isReserved = (name: string): boolean => name.startsWith(RESERVED)

export const scopedName = (scope: Scope, name: string): string => `${RESERVED}${scope}_${name}`

/** The scope and the name in it; undefined for a user's own. Scopes hold no underscore. */
export function splitScoped(key: string): { scope: string; name: string } | undefined {
  const [, scope, name] = /^__keelson_([^_]+)_(.+)$/s.exec(key) ?? []
  return scope === undefined || name === undefined ? undefined : { scope, name }
}
