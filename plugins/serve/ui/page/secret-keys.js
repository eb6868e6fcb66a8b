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

/**
 * Stores a secret, in the place of one of that name.
 * @param {Api} api
 * @param {string} key
 * @param {string} value
 */
export async function storeSecret(api, key, value) {
  try {
    await api.send('POST', PATH, { key, value })
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 409) throw error
    await api.send('PUT', `${PATH}/${encodeURIComponent(key)}`, { value })
  }
}
