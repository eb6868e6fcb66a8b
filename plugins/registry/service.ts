import { join } from 'node:path'
import { failures as core, messageOf } from '../../src/errors.ts'
import type { Log } from '../../src/log.ts'
import type { Paths } from '../../src/paths.ts'
import type { RegistryAuth, Settings, SettingsChange } from '../settings/index.ts'
import { assertIssuer } from './assert-issuer.ts'
import { type Detected, detectSource } from './detect-source.ts'
import { isPublicRegistry, type RegistryPlace } from './entry-places.ts'
import { failures } from './failures.ts'
import { type ParsedRegistry, parseRegistry, type RegistryDocument } from './formats/parse-registry.ts'
import type { ServerJson, SkillEntry } from './formats/server-json.ts'
import { shortNameOf, toFullName } from './formats/server-names.ts'
import { type LoginRequest, loginToRegistry } from './registry-login.ts'
import type { RegistryTokens } from './registry-tokens.ts'
import { compare, nearNames, searchServers } from './search-servers.ts'
import { apiSource } from './sources/api-source.ts'
import { builtInSource } from './sources/built-in-source.ts'
import { type Access, TIMEOUTS, type Timeouts } from './sources/fetch-page.ts'
import { fileSource, readRegistryFile } from './sources/file-source.ts'
import { createCache } from './sources/page-cache.ts'
import type { ReadOptions, Source, SourceKind } from './sources/registry-source.ts'
import { urlSource } from './sources/url-source.ts'

/** The registry, as the management API sums it up. */
export interface RegistrySummary {
  name: 'default'
  type: SourceKind
  source: string
  version: string
  last_updated: string
  server_count: number
  auth_status: 'none' | 'configured' | 'authenticated'
  auth_type: 'oauth' | ''
  auth_config?: Pick<RegistryAuth['oauth'], 'issuer' | 'client_id' | 'audience' | 'scopes'>
}

export interface SourceChange {
  /** A URL or a path. */
  readonly source: string
  readonly allowPrivate: boolean
  readonly auth?: RegistryAuth['oauth'] | undefined
  readonly cwd: string
}

/** What can be found and run by name. */
export interface Registry {
  /** Where it is read from now, without reading it. */
  source(): Promise<RegistryPlace>
  /** Whether strangers publish in the registry in use, so that its entries may not name private places. */
  isPublic(): Promise<boolean>
  summary(options?: ReadOptions): Promise<RegistrySummary>
  document(options?: ReadOptions): Promise<RegistryDocument>
  /** All servers by name. */
  servers(options?: ReadOptions): Promise<readonly ServerJson[]>
  /**
   * A server by its whole name, or by what stands behind the namespace if no other has that. Fails
   * with `server_ambiguous` naming the candidates.
   */
  find(name: string, options?: ReadOptions): Promise<ServerJson | undefined>
  /** As `find`; fails with `server_unknown`, suggesting near names. */
  get(name: string, options?: ReadOptions): Promise<ServerJson>
  /** Best first; names before descriptions, slips of the fingers forgiven. */
  search(query: string, options?: ReadOptions): Promise<readonly ServerJson[]>
  /** Names that a mistyped one may have meant. */
  near(name: string): Promise<readonly string[]>
  skills(options?: ReadOptions): Promise<readonly SkillEntry[]>
  getSkill(namespace: string, name: string): Promise<SkillEntry>
  /** Checks a registry and, if it can be used, puts it in the place of what was set, its login too. */
  setSource(change: SourceChange): Promise<Detected>
  /** Checks a file, or the built-in catalogue. Fails with `catalogue_inconsistent`, all problems in it. */
  verifyCatalogue(path?: string): Promise<{ place: string; servers: number; skills: number }>
  /** Back to the built-in catalogue. */
  unsetSource(): Promise<void>
  /** Where to log in to the API that is set, from now on; undefined: nowhere. Forgets the login. */
  setAuth(auth: RegistryAuth['oauth'] | undefined): Promise<void>
  /**
   * Logs in to a registry API in a browser. The registry must take the token; only then is anything
   * stored: tokens among the secrets, the registry and where to log in in the settings.
   */
  login(request: LoginRequest): Promise<{ place: string }>
  /** Forgets the login, at the identity provider too, and what the registry has said. Fails with `login_not_set`. */
  logout(): Promise<{ place: string }>
}

interface Surroundings {
  readonly paths: Paths
  readonly settings: Settings
  readonly log: Log
  readonly tokens?: () => Promise<RegistryTokens | undefined>
  readonly clock?: () => number
  readonly timeouts?: Timeouts
}

const NOTHING_SET = {
  registry_api_url: undefined,
  registry_url: undefined,
  local_registry_path: undefined,
  allow_private_registry_ip: undefined,
  registry_auth: undefined,
} as const satisfies SettingsChange

/** One command asks for the same document several times. */
const MOMENT_MS = 5_000

export function createRegistry(surroundings: Surroundings): Registry {
  const { paths, settings, log, tokens, clock = Date.now, timeouts = TIMEOUTS } = surroundings
  const cache = createCache({ folder: join(paths.cache, 'registry'), clock })
  let read: { source: Source; at: number; parsed: Promise<ParsedRegistry> } | undefined
  let warned: string | undefined

  async function currentSource(): Promise<Source> {
    const allowPrivate = (await settings.get('allow_private_registry_ip')) ?? false
    const api = await settings.get('registry_api_url')
    if (api) {
      const auth = await settings.get('registry_auth')
      const token = (rejected?: string) => findToken(api, rejected)
      const access = { allowPrivate, token, hasLogin: auth !== undefined, timeouts }
      return apiSource(api, { access, cache, log, clock })
    }
    const url = await settings.get('registry_url')
    if (url) return urlSource(url, { access: { allowPrivate, timeouts }, cache, log })
    const path = await settings.get('local_registry_path')
    return path ? fileSource(path) : builtInSource()
  }

  async function findToken(url: string, rejected?: string): Promise<string | undefined> {
    const auth = await settings.get('registry_auth')
    return auth && (await tokens?.())?.find({ url, auth }, rejected)
  }

  /** What was read for this source a moment ago. */
  function lately({ place, stamp }: Source) {
    const isSame = read?.source.place === place && read.source.stamp === stamp
    return isSame && clock() - (read?.at ?? 0) < MOMENT_MS ? read : undefined
  }

  async function document(options: ReadOptions = {}): Promise<RegistryDocument> {
    const source = await currentSource()
    const known = options.refresh ? undefined : lately(source)
    if (known) return (await known.parsed).document
    const mine = { source, at: clock(), parsed: source.read(options) }
    read = mine
    mine.parsed.catch(() => {
      if (read === mine) read = undefined
    })
    const { document: found, problems } = await mine.parsed
    warnOf(source.place, problems)
    return found
  }

  /** Once, until it is about something else. */
  function warnOf(place: string, problems: readonly string[]): void {
    const [first] = problems
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
    const text = first && `Entries of ${place} are left out for ${count}; the first: ${first}`
    if (text && text !== warned) log.warn(text)
    warned = text
  }

  async function servers(options?: ReadOptions): Promise<readonly ServerJson[]> {
    const { servers: listed, groups } = await document(options)
    const byName = new Map([...groups.flatMap(group => group.servers), ...listed].map(one => [one.name, one]))
    return [...byName.values()].sort((a, b) => compare(a.name, b.name))
  }

  async function find(name: string, options: ReadOptions = {}): Promise<ServerJson | undefined> {
    const source = await currentSource()
    if (source.find && !lately(source)) {
      const exact = await source.find(toFullName(name), options)
      if (exact) return exact
      const hits = (await source.search?.(name, options)) ?? []
      return pick(name, hits)
    }
    return pick(name, await servers(options))
  }

  /** Changes what is set. The login to what was set before goes with it. */
  async function put(change: SettingsChange): Promise<void> {
    const before = await settings.get('registry_auth').catch(() => undefined)
    await settings.change(() => change)
    read = undefined
    if (!before) return
    await (await tokens?.())?.forget().catch(error => {
      log.warn(`The login to the registry before is still among the secrets: ${messageOf(error)}`)
    })
  }

  const registry: Registry = {
    document,
    servers,
    find,

    async source() {
      const { kind, place } = await currentSource()
      return { kind, place, allowsPrivate: (await settings.get('allow_private_registry_ip')) ?? false }
    },

    isPublic: async () => isPublicRegistry(await registry.source()),

    async summary(options) {
      const { kind, place } = await currentSource()
      const { version, lastUpdated } = await document(options)
      const auth = kind === 'api' ? await settings.get('registry_auth') : undefined
      const isLoggedIn = auth && (await (await tokens?.())?.has({ url: place, auth }))
      return {
        name: 'default',
        type: kind,
        source: kind === 'default' ? '' : place,
        version,
        last_updated: lastUpdated,
        server_count: (await servers()).length,
        auth_status: !auth ? 'none' : isLoggedIn ? 'authenticated' : 'configured',
        auth_type: auth ? 'oauth' : '',
        ...(auth ? { auth_config: shownAuth(auth.oauth) } : {}),
      }
    },

    async get(name, options) {
      const server = await find(name, options)
      if (server) return server
      throw failures.server_unknown({ name, near: await registry.near(name) })
    },

    async search(query, options) {
      return searchServers(await servers(options), query)
    },

    async near(name) {
      const source = await currentSource()
      return nearNames(source.search && !lately(source) ? await source.search(name) : await servers(), name)
    },

    async skills(options) {
      const source = await currentSource()
      const skills = source.skills ? await source.skills(options) : (await document(options)).skills
      return [...skills].sort((a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name))
    },

    async getSkill(namespace, name) {
      const skills = await registry.skills()
      const skill = skills.find(one => one.namespace === namespace && one.name === name)
      if (!skill) throw failures.skill_unknown({ name: `${namespace}/${name}` })
      return skill
    },

    async verifyCatalogue(path) {
      const { catalogueProblems } = await import('./catalogue-problems.ts')
      const place = path ?? 'The built-in catalogue'
      const text = path
        ? await readRegistryFile(path)
        : (await import('./catalogue/built-in-catalogue.ts')).readCatalogue()
      const problems = catalogueProblems(text, place)
      if (problems.length) throw failures.catalogue_inconsistent({ place, problems })
      const { servers: listed, skills } = parseRegistry(text, place).document
      return { place, servers: listed.length, skills: skills.length }
    },

    async setSource({ source, allowPrivate, auth, cwd }) {
      if (auth) assertIssuer(auth.issuer, 'issuer')
      const access: Access = { allowPrivate, timeouts }
      const detected = await detectSource(source, { access, cwd, auth: auth !== undefined })
      const { kind, place } = detected
      if (auth && kind !== 'api') {
        throw failures.source_invalid({ source, problem: 'only a registry with an API can ask for a login' })
      }
      await put({
        registry_api_url: kind === 'api' ? place : undefined,
        registry_url: kind === 'url' ? place : undefined,
        local_registry_path: kind === 'file' ? place : undefined,
        allow_private_registry_ip: allowPrivate || undefined,
        registry_auth: auth && { type: 'oauth', oauth: auth },
      })
      return detected
    },

    unsetSource: () => put(NOTHING_SET),

    async setAuth(oauth) {
      const { kind, place } = await currentSource()
      if (oauth && kind !== 'api') throw failures.login_needs_api({ place })
      await put({ registry_auth: oauth && { type: 'oauth', oauth } })
    },

    async login(request) {
      const loginTokens = await tokens?.()
      if (!loginTokens) throw core.service_missing({ service: 'registryTokens' })
      return loginToRegistry(request, {
        settings,
        current: await registry.source(),
        tokens: loginTokens,
        timeouts,
        async store(place, allowPrivate, oauth) {
          read = undefined
          await settings.change(() => ({
            ...NOTHING_SET,
            registry_api_url: place,
            allow_private_registry_ip: allowPrivate || undefined,
            registry_auth: { type: 'oauth', oauth },
          }))
        },
      })
    },

    async logout() {
      const { kind, place } = await currentSource()
      const auth = kind === 'api' ? await settings.get('registry_auth') : undefined
      const logins = await tokens?.()
      if (!auth || !logins) throw failures.login_not_set()
      await logins.logout({ url: place, auth })
      await cache.forget(place.replace(/\/+$/, ''))
      read = undefined
      return { place }
    },
  }
  return registry
}

/** What the management API shows of it. */
const shownAuth = ({ issuer, client_id, audience, scopes }: RegistryAuth['oauth']) => ({
  issuer,
  client_id,
  ...(audience === undefined ? {} : { audience }),
  ...(scopes === undefined ? {} : { scopes }),
})

/** The server of that whole name, or the only one that is called so behind its namespace. */
function pick(name: string, servers: readonly ServerJson[]): ServerJson | undefined {
  const exact = servers.find(server => server.name === name)
  if (exact || name.includes('/')) return exact
  const called = servers.filter(server => shortNameOf(server.name) === name)
  if (called.length > 1) {
    throw failures.server_ambiguous({ name, candidates: called.map(server => server.name).sort() })
  }
  return called[0]
}
