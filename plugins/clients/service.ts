import { join } from 'node:path'
import type { Workload } from '../../src/contracts/workload.ts'
import { suggest } from '../../src/lib/suggest.ts'
import type { Log } from '../../src/log.ts'
import { withFileLock } from '../../src/with-file-lock.ts'
import { decodeText, readClientFile } from './client-file.ts'
import { coalesceCalls } from './coalesce-calls.ts'
import { editEntries } from './edit-entries.ts'
import { failures } from './failures.ts'
import { FormatProblem } from './formats/format.ts'
import { formatOf } from './formats/format-of.ts'
import { CLIENTS, type ClientSpec } from './known-clients.ts'
import { isInstalled, locate, type Surroundings } from './locate-client.ts'
import { foldersIn, type Program, programInUse } from './program-in-use.ts'
import { explain, syncFiles, type Target } from './sync-files.ts'
import { createWrittenEntriesStore } from './written-entries.ts'

/** A client as `client status` shows it; names as ToolHive's API writes them. */
export interface ClientStatus {
  client_type: string
  /** How people call it. */
  title: string
  /** The path of its settings. */
  file: string
  installed: boolean
  registered: boolean
  supports_skills: boolean
  supports_plugins: boolean
  /** Why its file cannot be edited; only for registered clients. */
  problem?: string
}

/** A registered client and the groups it is in. */
export interface Registration {
  name: string
  groups: string[]
}

/** All rules about client applications. */
export interface Clients {
  /** All clients, in the catalogue's order. */
  status(): Promise<ClientStatus[]>
  /** Fails with `client_unknown`, suggesting near names. */
  get(id: string): ClientSpec
  /** All registered clients, sorted by name. */
  listRegistered(): Promise<Registration[]>
  /**
   * Registers clients in groups, `default` without any, and writes their entries. Fails before anything
   * is changed when a client or group is unknown, or a client's file cannot be edited.
   * Returns the reasons why an entry could not be written.
   */
  register(ids: readonly string[], groups?: readonly string[]): Promise<Error[]>
  /** Removes clients from groups (from all when none is named), and their entries from the clients' files. */
  remove(ids: readonly string[], groups?: readonly string[]): Promise<Error[]>
  /**
   * Makes the files of all clients hold exactly what runs in their groups. Returns what prevented that, one
   * error for each client. Calls at the same time share one round. Does next to nothing without registered clients.
   */
  sync(): Promise<Error[]>
}

/** What clients need of groups. */
interface Groups {
  list(onLeftOut?: () => void): Promise<readonly { name: string; registered_clients: readonly string[] }[]>
  assertExists(name: string): Promise<void>
  addClient(group: string, client: string): Promise<boolean>
  removeClient(group: string, client: string): Promise<boolean>
}

/** The facts of a workload that decide about its entry. */
export type Candidate = Pick<Workload, 'name' | 'url' | 'proxy_mode' | 'group'> & {
  /** Up: it gets an entry. Down: it gets none. Between: an existing entry stays. */
  readonly presence: 'up' | 'down' | 'between'
  /** Workloads that clients reach through it: a client that has an entry for it needs none for them. */
  readonly standsFor?: readonly string[]
}

const DEFAULT_GROUP = 'default'
const LOCK_SECONDS = 30

export function createClients(options: {
  state: string
  surroundings: Surroundings
  /** The program that runs. */
  running: Program
  groups: () => Promise<Groups>
  /** The caller token that the proxy asks for; undefined when it asks for none. */
  token: () => Promise<string | undefined>
  /** All workloads. */
  workloads: () => Promise<readonly Candidate[]>
  log: Log
}): Clients {
  const { state, surroundings, workloads, log } = options
  const store = createWrittenEntriesStore({ state, log })
  const pathOf = (client: ClientSpec) => locate(client.file, surroundings)
  const lock = join(state, 'clients', 'lock')

  const registrations = async (onLeftOut?: () => void) => readRegistrations(await options.groups(), onLeftOut)

  async function targets(registered: Map<string, string[]>): Promise<Map<string, Target>> {
    if (registered.size === 0) return new Map()
    const [all, token] = await Promise.all([workloads(), options.token()])
    return targetsOf(registered, all, token)
  }

  const round = coalesceCalls(async (): Promise<Error[]> => {
    const isIdle = async () => (await registrations()).size === 0 && (await store.read()).size === 0
    if (await isIdle()) return []
    // Read under the lock, so that the last process to get it writes the newest state.
    const work = async () => {
      let keepsAll = false
      const registered = await registrations(() => {
        keepsAll = true // the clients of a group that cannot be read are unknown
      })
      const start = async (written: readonly Program[]) => ({
        program: await programInUse({ running: options.running, path: surroundings.env.PATH, written }),
        folders: foldersIn(surroundings.env),
      })
      return syncFiles({ targets: await targets(registered), keepsAll, store, pathOf, start })
    }
    return withFileLock(lock, work, { seconds: LOCK_SECONDS })
  })

  return {
    get: findClient,
    sync: round,

    async status() {
      const registered = await registrations()
      return Promise.all(
        CLIENTS.map(async client => {
          const isRegistered = registered.has(client.id)
          const problem = isRegistered ? await problemOf(client, pathOf(client)) : undefined
          return {
            client_type: client.id,
            title: client.title,
            file: pathOf(client),
            installed: await isInstalled(client, surroundings),
            registered: isRegistered,
            supports_skills: client.skills !== undefined,
            supports_plugins: client.plugins === true,
            ...(problem ? { problem: problem.message } : {}),
          }
        }),
      )
    },

    async listRegistered() {
      const all = [...(await registrations())].map(([name, groups]) => ({ name, groups }))
      return all.sort((a, b) => (a.name < b.name ? -1 : 1))
    },

    async register(ids, chosen = []) {
      const clients = ids.map(findClient)
      const names = chosen.length ? chosen : [DEFAULT_GROUP]
      const groups = await options.groups()
      for (const group of names) await groups.assertExists(group)
      for (const client of clients) {
        const problem = await problemOf(client, pathOf(client))
        if (problem) throw problem
      }
      for (const group of names) {
        for (const { id } of clients) await groups.addClient(group, id)
      }
      return round()
    },

    async remove(ids, chosen = []) {
      const registered = await registrations()
      for (const id of ids) if (!registered.has(id)) findClient(id) // a client that left the catalogue can still be removed
      const groups = await options.groups()
      for (const group of chosen) await groups.assertExists(group)
      for (const id of ids) {
        const names = chosen.length ? chosen : (registered.get(id) ?? [])
        for (const group of names) await groups.removeClient(group, id)
      }
      return round()
    },
  }
}

function findClient(id: string): ClientSpec {
  const client = CLIENTS.find(candidate => candidate.id === id)
  if (client) return client
  const ids = CLIENTS.map(candidate => candidate.id).sort()
  throw failures.client_unknown({ name: id, near: suggest(id, ids), ids })
}

/** The groups of every registered client. `onLeftOut` is called when a group cannot be read. */
async function readRegistrations(groups: Groups, onLeftOut?: () => void): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  for (const { name, registered_clients } of await groups.list(onLeftOut)) {
    for (const client of registered_clients) found.set(client, [...(found.get(client) ?? []), name])
  }
  return found
}

/** What each registered client's file should hold now. */
function targetsOf(
  registered: Map<string, string[]>,
  all: readonly Candidate[],
  token: string | undefined,
): Map<string, Target> {
  return new Map(
    [...registered].map(([client, groups]) => {
      const inGroups = all.filter(workload => groups.includes(workload.group || DEFAULT_GROUP))
      const hidden = inGroups.flatMap(({ presence, standsFor = [] }) =>
        presence === 'down' ? [] : standsFor,
      )
      const seen = inGroups.filter(({ name }) => !hidden.includes(name))
      const wanted = seen
        .filter(({ presence }) => presence === 'up')
        .map(({ name, url, proxy_mode }) => ({ name, url, mode: proxy_mode, token }))
      const kept = seen.filter(({ presence }) => presence === 'between').map(({ name }) => name)
      return [client, { wanted, kept: new Set(kept) }]
    }),
  )
}

const PROBE = {
  name: 'keelson-probe',
  url: 'http://127.0.0.1',
  mode: 'streamable-http',
  program: ['/node', '/keelson'],
  folders: {},
} as const

/** Why a client's file cannot be edited. */
async function problemOf(client: ClientSpec, path: string): Promise<Error | undefined> {
  try {
    const { bytes } = await readClientFile(path)
    if (!bytes) return undefined
    const decoded = decodeText(bytes)
    if (!decoded) throw new FormatProblem('it is not UTF-8 text')
    editEntries(client, await formatOf(client.format), decoded.text, {
      wanted: [PROBE],
      written: new Map(),
      kept: new Set(),
    })
    return undefined
  } catch (error) {
    return explain({ client, path }, error)
  }
}
