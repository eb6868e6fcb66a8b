import type { SecretReference } from '../page-types.d.ts'
import { type Api, Refusal } from './api.ts'

export const SECRETS = '/api/v1beta/secrets'
export const KEYS = `${SECRETS}/default/keys`

/** Names of the secrets that are stored; undefined when there is no place for secrets yet. */
export async function listSecrets(api: Api): Promise<string[] | undefined> {
  try {
    const { keys } = await api.get(KEYS)
    return (keys as { key: string }[]).map(({ key }) => key)
  } catch (error) {
    if (error instanceof Refusal && error.status !== 0 && error.status !== 401) return undefined
    throw error
  }
}

const pathOf = (server: string): string =>
  `/api/v1beta/registry/default/servers/${encodeURIComponent(server)}/secrets`

/** Secrets that were agreed on for a server of the registry, by variable. */
export async function agreedSecrets(api: Api, server: string): Promise<Map<string, string>> {
  const { secrets } = await api.get(pathOf(server))
  return new Map((secrets as SecretReference[]).map(one => [one.target, one.name]))
}

/**
 * Gives a server of the registry a secret: one that is stored, by its name, or a value that is stored for
 * this server alone.
 */
export const giveSecret = (
  api: Api,
  server: string,
  variable: string,
  secret: { name: string } | { value: string },
): Promise<SecretReference> => api.send('PUT', `${pathOf(server)}/${encodeURIComponent(variable)}`, secret)
