import { createHash } from 'node:crypto'
import { isFailure } from '../../../src/errors.ts'
import type { SecretsView } from '../../secrets/index.ts'
import type { Discovery, TokenSet } from '../oauth/types.ts'
import type { LoginMemory } from './login-memory.ts'
import {
  isRenewable,
  type KeptIn,
  type LoginRecord,
  type RememberedLogin,
  type StoredLogin,
} from './login-record.ts'

export interface FoundLogin {
  readonly record: LoginRecord
  /** In a memory: the newest. */
  readonly tokens?: TokenSet | undefined
  readonly keptIn: KeptIn
}

/** Keeps logins among keelson's own secrets; in memory where no provider can, or where they cannot be renewed. */
export interface LoginStore {
  find(key: string): Promise<FoundLogin | undefined>
  /** Keeps a new login in place of the one before. `memory`: whose, where it must be one. */
  add(key: string, login: RememberedLogin, memory: Exclude<KeptIn, 'secrets'>): Promise<KeptIn>
  /** Changes a login where it was found. */
  update(key: string, login: RememberedLogin, keptIn: KeptIn): Promise<void>
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

export const cannotKeep = (error: unknown): boolean => isFailure(error) && NO_PLACE.has(error.code)

export function createLoginStore(
  secrets: () => Promise<SecretsView>,
  memories: Readonly<Record<Exclude<KeptIn, 'secrets'>, LoginMemory>>,
): LoginStore {
  async function attempt<T>(work: (view: SecretsView) => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await work(await secrets())
    } catch (error) {
      if (cannotKeep(error)) return otherwise
      throw error
    }
  }

  const write = (key: string, record: LoginRecord): Promise<boolean> =>
    attempt(async view => {
      await view.set(`${PREFIX}${key}`, JSON.stringify(record))
      return true
    }, false)

  const erase = (key: string): Promise<void> =>
    attempt(async view => {
      await view.delete(`${PREFIX}${key}`).catch(error => {
        if (!isFailure(error, 'secret_missing')) throw error
      })
    }, undefined)

  async function find(key: string): Promise<FoundLogin | undefined> {
    const own = await memories.process.find(key)
    if (own) return { ...own, keptIn: 'process' }
    const text = await attempt(view => view.find(`${PREFIX}${key}`), undefined)
    if (text !== undefined) return { record: JSON.parse(text) as LoginRecord, keptIn: 'secrets' }
    const found = await memories.supervisor.find(key)
    return found && { ...found, keptIn: 'supervisor' }
  }

  return {
    find,
    async add(key, login, memory) {
      const isWritten = isRenewable(login.record) && (await write(key, login.record))
      const keptIn = isWritten ? 'secrets' : memory
      if (!isWritten) {
        await memories[memory].set(key, login)
        await erase(key)
      }
      if (keptIn !== 'process') await memories.process.remove(key)
      if (keptIn !== 'supervisor') await memories.supervisor.remove(key)
      return keptIn
    },
    async update(key, login, keptIn) {
      if (keptIn === 'secrets') await write(key, login.record)
      else await memories[keptIn].set(key, login)
    },
    async remove(key) {
      await Promise.all([memories.process.remove(key), memories.supervisor.remove(key)])
      await erase(key)
    },
    async list() {
      const keys = await attempt(
        async view => (await view.list()).map(({ key }) => key).filter(key => key.startsWith(PREFIX)),
        [],
      )
      const all = await Promise.all([
        keys.map(key => key.slice(PREFIX.length)),
        ...[memories.process, memories.supervisor].map(async memory =>
          (await memory.list()).map(([key]) => key),
        ),
      ])
      const found = await Promise.all(
        [...new Set(all.flat())].map(async key => [key, await find(key)] as const),
      )
      return found.flatMap(([key, login]) => (login ? [[key, login.record, login.keptIn] as const] : []))
    },
  }
}
