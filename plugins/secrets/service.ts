import type { App } from '../../src/app.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type {
  SecretEntry,
  SecretsContext,
  SecretsProvider,
  SecretsProviderOffer,
} from '../../src/contracts/secrets.ts'
import { failures } from './failures.ts'
import { assertSecretName, isReserved, type Scope, scopedName, splitScoped } from './names.ts'
import { fromEnvironment } from './providers/environment.ts'
import { parseReference, parseReferences } from './reference.ts'

/** What the provider in use can do. */
export interface ProviderInfo {
  readonly type: string
  readonly capabilities: {
    readonly can_read: boolean
    readonly can_write: boolean
    readonly can_delete: boolean
    readonly can_list: boolean
    readonly can_cleanup: boolean
  }
}

/** One of the places that can be chosen. */
export interface ProviderChoice {
  readonly type: string
  readonly description: string
  /** Whether it is the one in use. */
  readonly current: boolean
}

/** How a user wants a provider set up. */
export interface SetUpOptions {
  /** File that holds the password; remembered, so that it can be read without a person. */
  readonly passwordFile?: string | undefined
  readonly keyFrom?: 'keyring' | 'password' | undefined
}

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

/** All rules about secrets. The user's own view, and what leads to the others. */
export interface Secrets extends SecretsView {
  /** Fails as `set` would for the name and the provider, before anybody types a value. */
  assertCanStore(name: string): Promise<void>
  /** From here on missing passwords are asked for, without echo. */
  askWith(ask: (question: string) => Promise<string>): void
  choices(): Promise<ProviderChoice[]>
  /** Proves that a provider works, then makes it the one in use. Secrets of the one before stay where they are. */
  setUp(type: string, options?: SetUpOptions): Promise<void>
  /** Fails with `secrets_not_set_up`. */
  provider(): Promise<ProviderInfo>
  /** What keelson keeps for itself, each scope apart from the others and from the user's own. */
  scope(scope: Scope): SecretsView
  /** Keys of all scopes, with the scope as description. */
  listSystem(): Promise<SecretEntry[]>
  deleteSystem(key: string): Promise<void>
  /** Values by environment variable. Fails with `secrets_missing`, naming all that are. */
  resolve(references: readonly string[]): Promise<Record<string, string>>
  /** Names of the workloads whose run config refers to the secret. */
  usedBy(name: string): Promise<string[]>
  /** Takes over a file of ToolHive's; answers the names. Fails, changing nothing, when one is taken unless `replace`. */
  import(path: string, password: string, options: { replace: boolean }): Promise<string[]>
  /** Takes the key out of the keyring of this system. False when there was none. */
  resetKeyring(): Promise<boolean>
}

interface SecretsSettings {
  provider_type?: string
  setup_completed?: boolean
  password_file?: string
}

export interface SecretsOptions {
  readonly app: App
  readonly offers: () => Promise<readonly SecretsProviderOffer[]>
  readonly settings: {
    get(): Promise<SecretsSettings | undefined>
    change(decide: (current: SecretsSettings | undefined) => SecretsSettings): Promise<void>
  }
  readonly runConfigs: () => Promise<readonly RunConfig[]>
}

export function createSecrets(options: SecretsOptions): Secrets {
  const { app, settings } = options
  const { env } = app
  let ask: SecretsContext['ask']
  /** Made once: an opened file keeps its key, a connection its session. */
  const made = new Map<string, Promise<Used>>()

  async function offerOf(type: string): Promise<SecretsProviderOffer> {
    const offers = await options.offers()
    const offer = offers.find(candidate => candidate.type === type)
    if (offer) return offer
    throw failures.secrets_provider_unknown({ type, types: offers.map(candidate => candidate.type) })
  }

  /** The type in use: the variable's, which needs a set-up unless it is `environment`; else the settings'. */
  async function typeInUse(): Promise<string> {
    const { provider_type, setup_completed } = (await settings.get()) ?? {}
    const override = env.KEELSON_SECRETS_PROVIDER
    if (override) {
      await offerOf(override)
      if (override === 'environment' || setup_completed) return override
      throw failures.secrets_override_refused({ type: override })
    }
    if (!provider_type || !setup_completed) throw failures.secrets_not_set_up()
    return provider_type
  }

  async function make(type: string, { passwordFile, keyFrom }: SetUpOptions = {}): Promise<Used> {
    const offer = await offerOf(type)
    const file = passwordFile ?? (await settings.get())?.password_file
    const provider = await offer.make(app, {
      ...(ask ? { ask } : {}),
      ...(file ? { passwordFile: file } : {}),
      ...(keyFrom ? { keyFrom } : {}),
    })
    return { offer, provider }
  }

  async function used(): Promise<Used> {
    const type = await typeInUse()
    const known = made.get(type) ?? make(type)
    made.set(type, known)
    known.catch(() => made.delete(type))
    return known
  }

  /** A method of the provider in use. Fails with `secrets_unsupported` when it has none. */
  async function capable<M extends 'set' | 'delete' | 'list'>(
    method: M,
    action: string,
  ): Promise<NonNullable<SecretsProvider[M]>> {
    const { offer, provider } = await used()
    const found = provider[method]
    if (!found) throw failures.secrets_unsupported({ type: offer.type, action })
    return found.bind(provider) as NonNullable<SecretsProvider[M]>
  }

  async function remove(key: string, name: string): Promise<void> {
    if (!(await (await capable('delete', 'delete'))(key))) throw failures.secret_missing({ name })
  }

  const listAll = async () =>
    [...(await (await capable('list', 'list'))())].sort((a, b) => (a.key < b.key ? -1 : 1))

  /** A view by how its names are spelled in the provider. */
  function view(place: {
    keyOf: (name: string) => string
    /** The name of a key; undefined for what belongs to another view. */
    nameOf: (key: string) => string | undefined
    fallback: boolean
  }): SecretsView {
    const { keyOf, nameOf, fallback } = place
    async function find(name: string): Promise<string | undefined> {
      const key = keyOf(name)
      const { offer, provider } = await used()
      const value = await provider.find(key)
      if (value !== undefined) return value
      const substitutes = fallback && offer.envFallback && env.KEELSON_DISABLE_ENV_FALLBACK !== 'true'
      return substitutes ? fromEnvironment(env, name) : undefined
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
        await (await capable('set', 'store'))(key, value)
      },
      delete: async name => remove(keyOf(name), name),
      async list() {
        const entries = await listAll()
        return entries.flatMap(entry => {
          const key = nameOf(entry.key)
          return key === undefined ? [] : [{ ...entry, key }]
        })
      },
    }
  }

  const ownPlace = {
    keyOf(name: string) {
      assertSecretName(name)
      if (isReserved(name)) throw failures.secret_name_reserved({ name })
      return name
    },
    nameOf: (key: string) => (isReserved(key) ? undefined : key),
    fallback: true,
  }
  const own = view(ownPlace)

  return {
    ...own,
    async assertCanStore(name) {
      ownPlace.keyOf(name)
      await capable('set', 'store')
    },
    askWith(how) {
      ask = how
    },
    async choices() {
      const { provider_type, setup_completed } = (await settings.get()) ?? {}
      const current = env.KEELSON_SECRETS_PROVIDER || (setup_completed ? provider_type : undefined)
      return (await options.offers()).map(({ type, description }) => ({
        type,
        description,
        current: type === current,
      }))
    },
    async setUp(type, wish = {}) {
      const { provider } = await make(type, wish)
      await provider.prepare()
      await settings.change(current => ({
        ...current,
        provider_type: type,
        setup_completed: true,
        ...(wish.passwordFile ? { password_file: wish.passwordFile } : {}),
      }))
      made.delete(type)
    },
    async provider() {
      const { offer, provider } = await used()
      return {
        type: offer.type,
        capabilities: {
          can_read: true,
          can_write: provider.set !== undefined,
          can_delete: provider.delete !== undefined,
          can_list: provider.list !== undefined,
          can_cleanup: provider.delete !== undefined && provider.list !== undefined,
        },
      }
    },
    scope: scope =>
      view({
        keyOf(name) {
          assertSecretName(name)
          return scopedName(scope, name)
        },
        nameOf(key) {
          const found = splitScoped(key)
          return found?.scope === scope ? found.name : undefined
        },
        fallback: false,
      }),
    async listSystem() {
      const entries = await listAll()
      return entries
        .filter(entry => isReserved(entry.key))
        .map(({ key }) => ({ key, description: splitScoped(key)?.scope ?? '' }))
    },
    async deleteSystem(key) {
      if (!isReserved(key)) throw failures.secret_not_system({ name: key })
      await remove(key, key)
    },
    async resolve(texts) {
      const references = parseReferences(texts)
      const found = await Promise.all(
        references.map(async ({ name, target }) => ({ name, target, value: await own.find(name) })),
      )
      const missing = [...new Set(found.filter(({ value }) => value === undefined).map(({ name }) => name))]
      if (missing.length) throw failures.secrets_missing({ names: missing })
      return Object.fromEntries(found.map(({ target, value = '' }) => [target, value]))
    },
    async usedBy(name) {
      const configs = await options.runConfigs()
      return configs.filter(({ secrets = [] }) => secrets.some(names(name))).map(config => config.name)
    },
    async import(path, password, { replace }) {
      const { readFile } = await import('node:fs/promises')
      const { openToolhiveFile } = await import('./toolhive-file.ts')
      const refused = (problem: string, cause?: unknown) =>
        failures.secrets_import_refused({ path, problem }, { cause })
      const bytes = await readFile(path).catch(error => {
        throw refused('it cannot be read', error)
      })
      const imported = openToolhiveFile(bytes, password)
      if (!imported) throw refused('the password is wrong, or it is another kind of file')
      return takeOver(imported, { replace })
    },
    async resetKeyring() {
      const { provider } = await make('encrypted')
      return (await provider.forgetKey?.()) ?? false
    },
  }

  async function takeOver(imported: ReadonlyMap<string, string>, { replace }: { replace: boolean }) {
    const set = await capable('set', 'store')
    const { provider } = await used()
    const conflicts: string[] = []
    for (const [name, value] of imported) {
      const there = await provider.find(name)
      if (there !== undefined && there !== value && !replace) conflicts.push(name)
    }
    if (conflicts.length) throw failures.secrets_import_conflict({ names: conflicts })
    for (const [name, value] of imported) await set(name, value)
    return [...imported.keys()].sort()
  }
}

interface Used {
  readonly offer: SecretsProviderOffer
  readonly provider: SecretsProvider
}

/** Whether a reference is to that secret; one that cannot be read is to none. */
function names(name: string): (text: string) => boolean {
  return text => {
    try {
      return parseReference(text).name === name
    } catch {
      return false
    }
  }
}
