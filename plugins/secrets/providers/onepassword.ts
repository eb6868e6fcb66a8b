import { VERSION } from '../../../src/build-info.ts'
import type { SecretEntry, SecretsProvider, SecretsProviderOffer } from '../../../src/contracts/secrets.ts'
import { isFailure, messageOf } from '../../../src/errors.ts'
import { failures } from '../failures.ts'

type Env = Readonly<Record<string, string | undefined>>

/** What we use of a client of the optional package @1password/sdk. */
export interface OnePasswordClient {
  secrets: { resolve(reference: string): Promise<string> }
  vaults: { list(): Promise<{ id: string; title: string }[]> }
  items: {
    list(vault: string): Promise<{ id: string; title: string }[]>
    get(vault: string, item: string): Promise<{ fields: { id: string; title: string }[] }>
  }
}

export interface OnePasswordModule {
  createClient(options: {
    auth: string
    integrationName: string
    integrationVersion: string
  }): Promise<OnePasswordClient>
}

const CONNECT_MS = 5000
/** The name is a variable, so that bundlers do not look for a package that need not be there. */
const PACKAGE: string = '@1password/sdk'
const loadPackage = async (): Promise<OnePasswordModule> => (await import(PACKAGE)) as OnePasswordModule

/** How its errors say that there is nothing; anything else is trouble. */
const NOTHING = /not found|does not exist|doesn't exist|no (vault|item|section|field|match)/i

export const onePasswordOffer: SecretsProviderOffer = {
  type: '1password',
  description: '1Password, by a service account; names are op://VAULT/ITEM/FIELD; read-only',
  envFallback: true,
  make: ({ env }) => createOnePasswordProvider({ env }),
}

/** Reads from 1Password. The connection is made on first use. */
export function createOnePasswordProvider(options: {
  env: Env
  load?: () => Promise<OnePasswordModule>
  connectMs?: number
}): SecretsProvider {
  const { env, load = loadPackage, connectMs = CONNECT_MS } = options
  let connected: Promise<OnePasswordClient> | undefined

  async function connect(): Promise<OnePasswordClient> {
    const auth = env.OP_SERVICE_ACCOUNT_TOKEN
    const unavailable = (problem: string, cause?: unknown) =>
      failures.onepassword_unavailable({ problem: withoutToken(problem) }, { cause })
    if (!auth) throw unavailable('OP_SERVICE_ACCOUNT_TOKEN is not set.')
    const sdk = await load().catch(error => {
      throw unavailable('the optional package @1password/sdk is not installed beside keelson.', error)
    })
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(
      () => late.reject(unavailable(`it did not respond within ${connectMs / 1000} seconds.`)),
      connectMs,
    )
    const client = sdk.createClient({ auth, integrationName: 'keelson', integrationVersion: VERSION })
    try {
      return await Promise.race([client, late.promise])
    } catch (error) {
      throw isFailure(error) ? error : unavailable(messageOf(error), error)
    } finally {
      clearTimeout(timer)
    }
  }

  const withoutToken = (text: string): string =>
    env.OP_SERVICE_ACCOUNT_TOKEN ? text.replaceAll(env.OP_SERVICE_ACCOUNT_TOKEN, '[redacted]') : text

  async function client(): Promise<OnePasswordClient> {
    connected ??= connect()
    try {
      return await connected
    } catch (error) {
      connected = undefined // the next call tries again
      throw error
    }
  }

  const failed = (error: unknown) =>
    failures.onepassword_failed({ problem: withoutToken(messageOf(error)) }, { cause: error })

  async function list(): Promise<SecretEntry[]> {
    const { vaults, items } = await client()
    const entries: SecretEntry[] = []
    for (const vault of await vaults.list()) {
      for (const { id, title } of await items.list(vault.id)) {
        for (const field of (await items.get(vault.id, id)).fields) {
          entries.push({
            key: `op://${vault.id}/${id}/${field.id}`,
            description: `${vault.title} :: ${title} :: ${field.title}`,
          })
        }
      }
    }
    return entries
  }

  const listOrFail = () => list().catch(error => Promise.reject(isFailure(error) ? error : failed(error)))

  return {
    async find(name) {
      if (!name.includes('op://')) throw failures.onepassword_reference({ name })
      const { secrets } = await client()
      try {
        return await secrets.resolve(name)
      } catch (error) {
        if (NOTHING.test(messageOf(error))) return undefined
        throw failed(error)
      }
    },
    list: listOrFail,
    prepare: async () => void (await listOrFail()),
  }
}
