import { dirname, isAbsolute, join, relative } from 'node:path'
import { suggest } from '../../../src/lib/suggest.ts'
import { CLIENTS, type ClientSpec, isInstalled, locate, type Surroundings } from '../../clients/index.ts'
import { failures } from '../failures.ts'
import type { Place } from './place.ts'

/** A folder in which one or more clients look for skills. */
export interface ClientFolder {
  readonly path: string
  /** The base folder. Every folder below it on the path must not be a link. */
  readonly base: string
  /** This folder and those above it are kept when they become empty. */
  readonly keep: string
  readonly clients: readonly string[]
}

/** Maps clients to the folders that they read skills from. */
export interface ClientFolders {
  /**
   * Returns ids of clients in the order of the catalogue: the named ones, or all that are installed and read
   * skills. Fails with `skill_clients_missing` or `skill_client_invalid`.
   */
  choose(wanted: readonly string[]): Promise<string[]>
  /** Returns the folders of these clients, each with all clients that share it. Unknown clients are left out. */
  of(place: Place, clients: readonly string[]): ClientFolder[]
  /** Returns the folders of all clients. */
  all(place: Place): ClientFolder[]
}

const SKILLED = CLIENTS.filter(client => client.skills !== undefined)

export function createClientFolders(surroundings: Surroundings): ClientFolders {
  function folderOf(place: Place, { skills, file }: ClientSpec): Omit<ClientFolder, 'clients'> | undefined {
    if (!skills) return undefined
    if (place.scope === 'project')
      return { path: join(place.root, ...skills.project.split('/')), base: place.root, keep: place.root }
    const path = locate(skills.user, surroundings)
    const { XDG_CONFIG_HOME, APPDATA } = surroundings.env
    const base = [surroundings.home, XDG_CONFIG_HOME, APPDATA].find(folder => folder && isBelow(folder, path))
    // The folder that marks the client as installed is kept, also when we made it.
    const sign = dirname(locate(file, surroundings))
    const top = base ?? dirname(path)
    return { path, base: top, keep: isBelow(sign, path) ? sign : top }
  }

  function of(place: Place, clients: readonly string[]): ClientFolder[] {
    const found = new Map<string, ClientFolder>()
    for (const client of SKILLED.filter(({ id }) => clients.includes(id))) {
      const folder = folderOf(place, client)
      if (!folder) continue
      const others = found.get(folder.path)
      const keep = others && others.keep.length > folder.keep.length ? others.keep : folder.keep
      found.set(folder.path, { ...folder, keep, clients: [...(others?.clients ?? []), client.id] })
    }
    return [...found.values()]
  }

  return {
    of,
    all: place =>
      of(
        place,
        SKILLED.map(({ id }) => id),
      ),
    async choose(wanted) {
      const ids = wanted.map(id => id.trim())
      const all = ids.length === 0 || (ids.length === 1 && ids[0]?.toLowerCase() === 'all')
      if (!all) return inOrder(ids.map(known))
      const here = await Promise.all(SKILLED.map(client => isInstalled(client, surroundings)))
      const found = SKILLED.filter((_, i) => here[i]).map(({ id }) => id)
      if (found.length === 0) throw failures.skill_clients_missing()
      return found
    },
  }
}

function known(id: string): string {
  if (id === '') throw failures.skill_client_invalid({ problem: 'The name of a client is empty.' })
  if (id.toLowerCase() === 'all')
    throw failures.skill_client_invalid({ problem: '"all" cannot be mixed with names of clients.' })
  const client = CLIENTS.find(candidate => candidate.id === id)
  const skilled = SKILLED.map(candidate => candidate.id)
  if (!client)
    throw failures.skill_client_invalid({
      problem: `"${id}" is not a client that keelson knows.`,
      near: suggest(id, skilled),
    })
  if (!client.skills)
    throw failures.skill_client_invalid({ problem: `${client.title} does not read skills.` })
  return id
}

const inOrder = (ids: readonly string[]): string[] =>
  SKILLED.map(({ id }) => id).filter(id => ids.includes(id))

const isBelow = (base: string, path: string): boolean => {
  const below = relative(base, path)
  return below !== '' && !below.startsWith('..') && !isAbsolute(below)
}
