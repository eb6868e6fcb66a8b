import type { Log } from '../../src/log.ts'
import type { Paths } from '../../src/paths.ts'
import type { RegistryAuth, Settings } from '../settings/index.ts'
import { createCurrentSource } from './current-source.ts'
import { isPublicRegistry, type RegistryPlace } from './entry-places.ts'
import { failures } from './failures.ts'
import { parseRegistry, type RegistryDocument } from './formats/parse-registry.ts'
import type { ServerJson } from './formats/server-json.ts'
import { shortNameOf, toFullName } from './formats/server-names.ts'
import type { SkillEntry } from './formats/skill-entry.ts'
import type { RegistryTokens } from './registry-tokens.ts'
import { compare, nearNames, searchServers } from './search-servers.ts'
import { createSourceSetting, type SourceSetting } from './set-source.ts'
import { TIMEOUTS, type Timeouts } from './sources/fetch-page.ts'
import { readRegistryFile } from './sources/file-source.ts'
import type { ReadOptions, SourceKind } from './sources/registry-source.ts'

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

/** What can be found and run by name. */
export interface Registry extends SourceSetting {
  /** Where it is read from now, without reading it. */
  source(): Promise<RegistryPlace>
  /** Whether strangers publish in the registry in use, so that its entries may not name private places. */
  isPublic(): Promise<boolean>
  summary(options?: ReadOptions): Promise<RegistrySummary>
  document(options?: ReadOptions): Promise<RegistryDocument>
  /** All servers by name. */
  servers(options?: ReadOptions): Promise<readonly ServerJson[]>
  /**
   * A server by its full name, or by the part after the namespace if no other has that. Fails
   * with `server_ambiguous` naming the candidates.
   */
  find(name: string, options?: ReadOptions): Promise<ServerJson | undefined>
  /** As `find`; fails with `server_unknown`, suggesting near names. */
  get(name: string, options?: ReadOptions): Promise<ServerJson>
  /** Best first; names before descriptions, typing mistakes accepted. */
  search(query: string, options?: ReadOptions): Promise<readonly ServerJson[]>
  /** Names that a mistyped one may have meant. */
  near(name: string): Promise<readonly string[]>
  skills(options?: ReadOptions): Promise<readonly SkillEntry[]>
  getSkill(namespace: string, name: string): Promise<SkillEntry>
  /** Checks a file, or the built-in catalogue. Fails with `catalogue_inconsistent`, all problems in it. */
  verifyCatalogue(path?: string): Promise<{ place: string; servers: number; skills: number }>
}

interface Surroundings {
  readonly paths: Paths
  readonly settings: Settings
  readonly log: Log
  readonly tokens?: () => Promise<RegistryTokens | undefined>
  readonly clock?: () => number
  readonly timeouts?: Timeouts
}

export function createRegistry(surroundings: Surroundings): Registry {
  const { paths, settings, log, tokens, clock = Date.now, timeouts = TIMEOUTS } = surroundings
  const current = createCurrentSource({ cacheFolder: paths.cache, settings, log, tokens, clock, timeouts })
  const { document } = current

  async function servers(options?: ReadOptions): Promise<readonly ServerJson[]> {
    const { servers: listed, groups } = await document(options)
    const byName = new Map([...groups.flatMap(group => group.servers), ...listed].map(one => [one.name, one]))
    return [...byName.values()].sort((a, b) => compare(a.name, b.name))
  }

  async function find(name: string, options: ReadOptions = {}): Promise<ServerJson | undefined> {
    const source = await current.get()
    if (source.find && !current.isFresh(source)) {
      const exact = await source.find(toFullName(name), options)
      if (exact) return exact
      const hits = (await source.search?.(name, options)) ?? []
      return pick(name, hits)
    }
    return pick(name, await servers(options))
  }

  async function place(): Promise<RegistryPlace> {
    const { kind, place: at } = await current.get()
    return { kind, place: at, allowsPrivate: (await settings.get('allow_private_registry_ip')) ?? false }
  }

  const registry: Registry = {
    document,
    servers,
    find,
    ...createSourceSetting({ settings, log, tokens, timeouts, current, place }),

    source: place,

    isPublic: async () => isPublicRegistry(await place()),

    async summary(options) {
      const { kind, place: at } = await current.get()
      const { version, lastUpdated } = await document(options)
      const auth = kind === 'api' ? await settings.get('registry_auth') : undefined
      const isLoggedIn = auth && (await (await tokens?.())?.has({ url: at, auth }))
      return {
        name: 'default',
        type: kind,
        source: kind === 'default' ? '' : at,
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
      const source = await current.get()
      return nearNames(
        source.search && !current.isFresh(source) ? await source.search(name) : await servers(),
        name,
      )
    },

    async skills(options) {
      const source = await current.get()
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
      const file = path ?? 'The built-in catalogue'
      const text = path
        ? await readRegistryFile(path)
        : (await import('./catalogue/built-in-catalogue.ts')).readCatalogue()
      const problems = catalogueProblems(text, file)
      if (problems.length) throw failures.catalogue_inconsistent({ place: file, problems })
      const { servers: listed, skills } = parseRegistry(text, file).document
      return { place: file, servers: listed.length, skills: skills.length }
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
