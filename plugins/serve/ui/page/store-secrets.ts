import type { SecretReference } from '../page-types.d.ts'
import { type Api, Refusal } from './api.ts'
import type { VariableDraft } from './run-draft.ts'
import { giveSecret, KEYS } from './secret-keys.ts'

/** Whom secrets are stored for: a server of the registry, or one workload. */
export interface Owner {
  readonly server?: string | undefined
  readonly workload: string
}

/**
 * Stores the secrets that were typed. In the rows that it returns their names stand in the place of their values, so
 * that no value is kept, or stored twice when the request is sent again.
 */
export async function storeSecrets(
  api: Api,
  { server, workload }: Owner,
  variables: readonly VariableDraft[],
): Promise<VariableDraft[]> {
  const rows: VariableDraft[] = []
  for (const row of variables) {
    const { isSecret, name, value, stored } = row
    if (!isSecret || (!value && !stored)) rows.push(row)
    else if (server && row.about) {
      const secret = stored ? { name: stored } : { value }
      rows.push({ ...row, stored: (await giveSecret(api, server, name, secret)).name, value: '' })
    } else if (stored) rows.push(row)
    else rows.push({ ...row, stored: await storeNew(api, `${workload}_${name}`, value), value: '' })
  }
  return rows
}

/** Takes the first name that is free: another workload may use a secret of this name. */
async function storeNew(api: Api, wanted: string, value: string): Promise<SecretReference['name']> {
  for (let count = 1; ; count++) {
    const key = count === 1 ? wanted : `${wanted}_${count}`
    try {
      await api.send('POST', KEYS, { key, value })
      return key
    } catch (error) {
      if (!(error instanceof Refusal && error.status === 409)) throw error
    }
  }
}
