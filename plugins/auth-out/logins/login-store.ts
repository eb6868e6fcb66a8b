import { createHash } from 'node:crypto'
import { isFailure } from '../../../src/errors.ts'
import type { SecretsView } from '../../secrets/index.ts'
import type { ClientIdentity, Discovery } from '../oauth/types.ts'

/** A login that is kept: all that is needed to get tokens again without a person. No access token. */
export interface LoginRecord {
  /** Origin of the remote server; tokens go nowhere else. */
  readonly origin: string
  readonly discovery: Discovery
  readonly client: ClientIdentity
  readonly refreshToken?: string | undefined
  /** Granted. */
  readonly scopes: readonly string[]
  readonly loggedInAt: string
}

export type StoredLogin = readonly [key: string, record: LoginRecord]

/** Keeps logins among keelson's own secrets; where no provider can, in the memory of this process. */
export interface LoginStore {
  find(key: string): Promise<LoginRecord | undefined>
  /** False where it is kept in memory only, so that a restart asks again. */
  save(key: string, record: LoginRecord): Promise<boolean>
  remove(key: string): Promise<void>
  list(): Promise<StoredLogin[]>
}

const PREFIX = 'OAUTH_REFRESH_TOKEN_'

/** One login for each origin, issuer, resource and client that the user named. */
export const loginKey = (origin: string, discovery: Discovery, clientId: string | undefined): string =>
  createHash('sha256')
    .update(JSON.stringify([origin, discovery.issuer, discovery.resource, clientId ?? '']))
    .digest('hex')
    .slice(0, 32)

/** Failures that mean that secrets cannot be kept here. */
const NO_PLACE = new Set(['secrets_not_set_up', 'secrets_unsupported', 'service_missing'])

export function createLoginStore(secrets: () => Promise<SecretsView>): LoginStore {
  const memory = new Map<string, LoginRecord>()

  async function attempt<T>(work: (view: SecretsView) => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await work(await secrets())
    } catch (error) {
      if (isFailure(error) && NO_PLACE.has(error.code)) return otherwise
      throw error
    }
  }

  return {
    async find(key) {
      const text = await attempt(view => view.find(`${PREFIX}${key}`), undefined)
      return text === undefined ? memory.get(key) : (JSON.parse(text) as LoginRecord)
    },
    async save(key, record) {
      const kept = await attempt(async view => {
        await view.set(`${PREFIX}${key}`, JSON.stringify(record))
        return true
      }, false)
      if (kept) memory.delete(key)
      else memory.set(key, record)
      return kept
    },
    async remove(key) {
      memory.delete(key)
      await attempt(async view => {
        await view.delete(`${PREFIX}${key}`).catch(error => {
          if (!isFailure(error, 'secret_missing')) throw error
        })
      }, undefined)
    },
    async list() {
      const keys = await attempt(
        async view => (await view.list()).map(({ key }) => key).filter(key => key.startsWith(PREFIX)),
        [],
      )
      const all = [...new Set([...keys.map(key => key.slice(PREFIX.length)), ...memory.keys()])]
      const found = await Promise.all(all.map(async key => [key, await this.find(key)] as const))
      return found.flatMap(([key, record]) => (record ? [[key, record] as const] : []))
    },
  }
}
