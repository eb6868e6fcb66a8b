import type { SecretsProvider, SecretsProviderOffer } from '../../../src/contracts/secrets.ts'

type Env = Readonly<Record<string, string | undefined>>

/** The value of `KEELSON_SECRET_<NAME>`; an empty one counts as none. */
export const fromEnvironment = (env: Env, name: string): string | undefined =>
  env[`KEELSON_SECRET_${name}`] || undefined

/** Reads variables. It cannot list them, so their names are not revealed. */
export const createEnvironmentProvider = (env: Env): SecretsProvider => ({
  find: async name => fromEnvironment(env, name),
  prepare: async () => undefined,
})

export const environmentOffer: SecretsProviderOffer = {
  type: 'environment',
  description: 'variables named KEELSON_SECRET_<NAME>; read-only',
  envFallback: false,
  make: ({ env }) => createEnvironmentProvider(env),
}
