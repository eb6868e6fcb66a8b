import type { App } from '../../src/app.ts'
import type { SecretsContext, SecretsProvider, SecretsProviderOffer } from '../../src/contracts/secrets.ts'
import { failures } from './failures.ts'

/** What the settings say of secrets. */
export interface SecretsSettings {
  provider_type?: string
  setup_completed?: boolean
  password_file?: string
}

export interface Used {
  readonly offer: SecretsProviderOffer
  readonly provider: SecretsProvider
}

/** How a user wants a provider set up. */
export interface SetUpOptions {
  /** File that holds the password; remembered, so that it can be read without a person. */
  readonly passwordFile?: string | undefined
  readonly keyFrom?: 'keyring' | 'password' | undefined
}

/** Finds and makes the provider that a user has chosen. */
export interface ProviderInUse {
  askWith(ask: SecretsContext['ask']): void
  /** The type in use; undefined when none is. The variable's, else the settings'. */
  type(): Promise<string | undefined>
  /** Fails with `secrets_provider_unknown`. */
  make(type: string, options?: SetUpOptions): Promise<Used>
  /**
   * Made once for the settings as they are: an opened file keeps its key, a connection its session.
   * Fails with `secrets_not_set_up`.
   */
  get(): Promise<Used>
  /** A method of the provider in use. Fails with `secrets_unsupported` when it has none. */
  capable<M extends 'set' | 'delete' | 'list'>(
    method: M,
    action: string,
  ): Promise<NonNullable<SecretsProvider[M]>>
}

export function createProviderInUse(options: {
  app: App
  offers: () => Promise<readonly SecretsProviderOffer[]>
  settings: () => Promise<SecretsSettings | undefined>
}): ProviderInUse {
  const { app, offers, settings } = options
  const made = new Map<string, Promise<Used>>()
  let ask: SecretsContext['ask']

  async function offerOf(type: string): Promise<SecretsProviderOffer> {
    const all = await offers()
    const offer = all.find(candidate => candidate.type === type)
    if (offer) return offer
    throw failures.secrets_provider_unknown({ type, types: all.map(candidate => candidate.type) })
  }

  async function type(): Promise<string | undefined> {
    const { provider_type, setup_completed } = (await settings()) ?? {}
    return app.env.KEELSON_SECRETS_PROVIDER || (setup_completed ? provider_type : undefined)
  }

  /** The variable needs a set-up too, unless it names `environment`, which has nothing to set up. */
  async function requiredType(): Promise<string> {
    const found = await type()
    if (found === undefined) throw failures.secrets_not_set_up()
    await offerOf(found)
    if (found === 'environment' || (await settings())?.setup_completed) return found
    throw failures.secrets_override_refused({ type: found })
  }

  async function make(type: string, { passwordFile, keyFrom }: SetUpOptions = {}): Promise<Used> {
    const offer = await offerOf(type)
    const file = passwordFile ?? (await settings())?.password_file
    const provider = await offer.make(app, {
      ...(ask ? { ask } : {}),
      ...(file ? { passwordFile: file } : {}),
      ...(keyFrom ? { keyFrom } : {}),
    })
    return { offer, provider }
  }

  async function get(): Promise<Used> {
    const found = await requiredType()
    const key = JSON.stringify([found, (await settings())?.password_file])
    const known = made.get(key) ?? make(found)
    made.set(key, known)
    known.catch(() => made.delete(key))
    return known
  }

  return {
    askWith(how) {
      ask = how
    },
    type,
    make,
    get,
    async capable(method, action) {
      const { offer, provider } = await get()
      const found = provider[method]
      if (!found) throw failures.secrets_unsupported({ type: offer.type, action })
      return found.bind(provider) as NonNullable<SecretsProvider[typeof method]>
    },
  }
}
