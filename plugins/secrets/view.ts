import type { SecretEntry } from '../../src/contracts/secrets.ts'
import { failures } from './failures.ts'
import type { ProviderInUse } from './provider-in-use.ts'
import { fromEnvironment } from './providers/environment.ts'
import { assertSecretName, isReserved, type Scope, scopedName, splitScoped } from './secret-names.ts'

/** Secrets by name, of a user or of one scope of ours: what is stored here is read here. */
export interface SecretsView {
  /** Fails with `secret_missing`. */
  get(name: string): Promise<string>
  find(name: string): Promise<string | undefined>
  set(name: string, value: string): Promise<void>
  /** Fails with `secret_missing`. */
  delete(name: string): Promise<void>
  /** By name. */
  list(): Promise<SecretEntry[]>
}

/** How the names of a view are spelled in the provider. */
interface Place {
  /** Fails for what can be no name here. */
  keyOf(name: string): string
  /** Undefined for what belongs to another view. */
  nameOf(key: string): string | undefined
  /** Variables that stand in for what the provider does not have; undefined when none do. */
  readonly substitutes: Readonly<Record<string, string | undefined>> | undefined
}

export const userPlace = (env: Readonly<Record<string, string | undefined>>): Place => ({
  keyOf(name) {
    assertSecretName(name)
    if (isReserved(name)) throw failures.secret_name_reserved({ name })
    return name
  },
  nameOf: key => (isReserved(key) ? undefined : key),
  substitutes: env.KEELSON_DISABLE_ENV_FALLBACK === 'true' ? undefined : env,
})

export const scopePlace = (scope: Scope): Place => ({
  keyOf(name) {
    assertSecretName(name)
    return scopedName(scope, name)
  },
  nameOf(key) {
    const found = splitScoped(key)
    return found?.scope === scope ? found.name : undefined
  },
  substitutes: undefined,
})

/** All keys that the provider in use has, in order. */
export async function listKeys(inUse: ProviderInUse): Promise<SecretEntry[]> {
  const list = await inUse.capable('list', 'list')
  return [...(await list())].sort((a, b) => (a.key < b.key ? -1 : 1))
}

export function createView(inUse: ProviderInUse, { keyOf, nameOf, substitutes }: Place): SecretsView {
  async function find(name: string): Promise<string | undefined> {
    const key = keyOf(name)
    const { offer, provider } = await inUse.get()
    const value = await provider.find(key)
    if (value !== undefined || !substitutes || !offer.envFallback) return value
    return fromEnvironment(substitutes, name)
  }

  return {
    find,
    async get(name) {
      const value = await find(name)
      if (value === undefined) throw failures.secret_missing({ name })
      return value
    },
    async set(name, value) {
      const key = keyOf(name)
      const set = await inUse.capable('set', 'store')
      await set(key, value)
    },
    async delete(name) {
      const key = keyOf(name)
      const remove = await inUse.capable('delete', 'delete')
      if (!(await remove(key))) throw failures.secret_missing({ name })
    },
    async list() {
      const entries = await listKeys(inUse)
      return entries.flatMap(entry => {
        const key = nameOf(entry.key)
        return key === undefined ? [] : [{ ...entry, key }]
      })
    },
  }
}
