import type { App } from '../../src/app.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { SecretEntry, SecretsProviderOffer } from '../../src/contracts/secrets.ts'
import { type Consents, createConsents } from './consents.ts'
import { failures } from './failures.ts'
import { createProviderInUse, type SecretsSettings, type SetUpOptions } from './provider-in-use.ts'
import { parseReferences, refersTo } from './reference.ts'
import { isReserved, type Scope, splitScoped } from './secret-names.ts'
import { createView, listKeys, type SecretsView, scopePlace, userPlace } from './view.ts'
import { createWithPerson, type Person } from './with-person.ts'

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

/** All rules about secrets: the user's own view, and what leads to the others. */
export interface Secrets extends SecretsView {
  /** From here on missing passwords are asked for, without echo. */
  askWith(ask: (question: string) => Promise<string>): void
  choices(): Promise<ProviderChoice[]>
  /** Proves that a provider works, then makes it the one in use. Secrets of the one before stay where they are. */
  setUp(type: string, options?: SetUpOptions): Promise<void>
  /** Fails with `secrets_not_set_up`. */
  provider(): Promise<ProviderInfo>
  /** Fails as `set` would for the name and the provider, before anybody types a value. */
  assertCanStore(name: string): Promise<void>
  /** Which servers of registries the user gives stored secrets to. A secret that is deleted takes its consents along. */
  readonly consents: Consents
  /** What keelson keeps for itself, each scope apart from the others and from the user's own. */
  scope(scope: Scope): SecretsView
  /** Keys of all scopes, with the scope as description. */
  listSystem(): Promise<SecretEntry[]>
  deleteSystem(key: string): Promise<void>
  /**
   * Whether a person has to type a password to open the secrets of a provider: the one of the type, or the one in use.
   * `new` if its file does not exist yet. Servers are started in the background, where nobody can be asked.
   */
  needsPerson(type?: string): Promise<'new' | 'existing' | undefined>
  /** Like `setUp`, for a person at a terminal, who is offered a key file if there is no keyring. */
  setUpWith(type: string, person: Person): Promise<void>
  /** Like `resolve`, for a person at a terminal, who is asked for missing values. `background`: the supervisor resolves them later. */
  resolveWith(references: readonly string[], person: Person & { background: boolean }): Promise<void>
  /** The names in references `NAME,target=VARIABLE` that have no value. */
  missing(references: readonly string[]): Promise<string[]>
  /** Values by environment variable, from references `NAME,target=VARIABLE`. Fails with `secrets_missing`, naming all that are. */
  resolve(references: readonly string[]): Promise<Record<string, string>>
  /** Names of the workloads whose run config refers to the secret. */
  usedBy(name: string): Promise<string[]>
  /** Stores all secrets of a file of ToolHive's, and returns their names. */
  import(path: string, password: () => Promise<string>, options: { replace: boolean }): Promise<string[]>
  /** Asks for the password and keeps it until the user logs out. False where no password has to be typed. */
  unlock(): Promise<boolean>
  /** Deletes the password that `unlock` keeps. False when there was none. */
  lock(): Promise<boolean>
  /** Takes the key out of the keyring of this system. False when there was none. */
  resetKeyring(): Promise<boolean>
}

export function createSecrets(options: {
  app: App
  offers: () => Promise<readonly SecretsProviderOffer[]>
  settings: {
    get(): Promise<SecretsSettings | undefined>
    change(decide: (current: SecretsSettings | undefined) => SecretsSettings): Promise<void>
  }
  runConfigs: () => Promise<readonly RunConfig[]>
}): Secrets {
  const { app, offers, settings, runConfigs } = options
  const inUse = createProviderInUse({ app, offers, settings: () => settings.get() })
  const user = userPlace(app.env)
  const own = createView(inUse, user)
  const consents = createConsents({ paths: app.paths, log: app.log })

  const findAll = (texts: readonly string[]) =>
    Promise.all(
      parseReferences(texts).map(async ({ name, target }) => ({ name, target, value: await own.find(name) })),
    )

  const secrets: Omit<Secrets, 'setUpWith' | 'resolveWith'> = {
    ...own,
    consents,
    async delete(name) {
      await consents.withdraw(name)
      await own.delete(name)
    },
    askWith: inUse.askWith,
    async choices() {
      const type = await inUse.type()
      return (await offers()).map(offer => ({
        type: offer.type,
        description: offer.description,
        current: offer.type === type,
      }))
    },
    async setUp(type, wish = {}) {
      const { provider } = await inUse.make(type, wish)
      await provider.prepare()
      await settings.change(current => ({
        ...current,
        provider_type: type,
        setup_completed: true,
        ...(wish.passwordFile ? { password_file: wish.passwordFile } : {}),
      }))
    },
    async provider() {
      const { offer, provider } = await inUse.get()
      const [write, remove, list] = [provider.set, provider.delete, provider.list].map(Boolean)
      return {
        type: offer.type,
        capabilities: {
          can_read: true,
          can_write: write === true,
          can_delete: remove === true,
          can_list: list === true,
          can_cleanup: remove === true && list === true,
        },
      }
    },
    async assertCanStore(name) {
      user.keyOf(name)
      await inUse.capable('set', 'store')
    },
    scope: scope => createView(inUse, scopePlace(scope)),
    async listSystem() {
      const reserved = (await listKeys(inUse)).filter(entry => isReserved(entry.key))
      return reserved.map(({ key }) => ({ key, description: splitScoped(key)?.scope ?? '' }))
    },
    async deleteSystem(key) {
      if (!isReserved(key)) throw failures.secret_not_system({ name: key })
      const remove = await inUse.capable('delete', 'delete')
      if (!(await remove(key))) throw failures.secret_missing({ name: key })
    },
    async needsPerson(type) {
      const { provider } = type === undefined ? await inUse.get() : await inUse.make(type)
      return provider.needsPerson?.()
    },
    async missing(texts) {
      return lackingOf(await findAll(texts))
    },
    async resolve(texts) {
      const found = await findAll(texts)
      const names = lackingOf(found)
      if (names.length) throw failures.secrets_missing({ names })
      return Object.fromEntries(found.map(({ target, value = '' }) => [target, value]))
    },
    usedBy: async name =>
      (await runConfigs())
        .filter(({ secrets = [] }) => secrets.some(reference => refersTo(reference, name)))
        .map(config => config.name),
    import: async (path, password, how) =>
      (await import('./import-toolhive.ts')).importToolhive(inUse, path, password, how),
    unlock: async () => (await (await inUse.get()).provider.unlock?.()) ?? false,
    lock: async () => (await (await inUse.get()).provider.lock?.()) ?? false,
    async resetKeyring() {
      const { provider } = await inUse.make('encrypted')
      return (await provider.forgetKey?.()) ?? false
    },
  }
  return { ...secrets, ...createWithPerson({ secrets, paths: app.paths }) }
}

/** The names of those without a value, each once. */
const lackingOf = (found: readonly { name: string; value: string | undefined }[]): string[] => [
  ...new Set(found.filter(({ value }) => value === undefined).map(({ name }) => name)),
]
