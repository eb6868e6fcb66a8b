/** @import { Api } from './api.js' */
import { Refusal } from './api.js'

const PATH = '/api/v1beta/secrets/default/keys'

/**
 * Names of the secrets that are stored; undefined when there is no place for secrets yet.
 * @param {Api} api
 * @returns {Promise<string[] | undefined>}
 */
export async function listSecrets(api) {
  try {
    const { keys } = await api.get(PATH)
    return /** @type {{ key: string }[]} */ (keys).map(({ key }) => key)
  } catch (error) {
    if (error instanceof Refusal && error.status !== 0 && error.status !== 401) return undefined
    throw error
  }
}

/** @param {string} server */
const pathOf = server => `/api/v1beta/registry/default/servers/${encodeURIComponent(server)}/secrets`

/**
 * Secrets that were agreed on for a server of the registry, by variable.
 * @param {Api} api
 * @param {string} server
 * @returns {Promise<Map<string, string>>}
 */
export async function agreedSecrets(api, server) {
  const { secrets } = await api.get(pathOf(server))
  return new Map(
    /** @type {import('../page-types.d.ts').SecretReference[]} */ (secrets).map(one => [
      one.target,
      one.name,
    ]),
  )
}

/**
 * Gives a server of the registry a secret: one that is stored, by its name, or a value that is stored for
 * this server alone.
 * @param {Api} api
 * @param {string} server
 * @param {string} variable
 * @param {{ name: string } | { value: string }} secret
 * @returns {Promise<import('../page-types.d.ts').SecretReference>}
 */
export const giveSecret = (api, server, variable, secret) =>
  api.send('PUT', `${pathOf(server)}/${encodeURIComponent(variable)}`, secret)
