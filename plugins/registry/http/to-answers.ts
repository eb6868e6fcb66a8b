import { isRemote, type ServerView } from '../formats/legacy.ts'
import type { RegistryDocument } from '../formats/parse-registry.ts'
import { SERVER_SCHEMA, type ServerJson } from '../formats/server-json.ts'
import { toView } from '../formats/to-view.ts'
import { imageServer, onlyKnown, remoteServer } from './response-schemas.ts'

/** The servers of a list: those that run here, and those that run elsewhere. */
export interface Split {
  readonly images: readonly ServerAnswer[]
  readonly remotes: readonly ServerAnswer[]
}

type ServerAnswer = Record<string, unknown>

export function split(servers: readonly ServerJson[]): Split {
  const views = servers.map(toView)
  return {
    images: views.filter(view => !isRemote(view)).map(toAnswer),
    remotes: views.filter(isRemote).map(toAnswer),
  }
}

/** One server, with the members that clients rely on. */
export function toAnswer(view: ServerView): ServerAnswer {
  const headers = 'headers' in view ? view.headers : undefined
  return {
    description: '',
    tier: '',
    status: '',
    transport: '',
    tools: [],
    ...onlyKnown(isRemote(view) ? remoteServer : imageServer, view),
    ...(view.env_vars?.length ? { env_vars: view.env_vars.map(withPresets) } : { env_vars: undefined }),
    ...(headers ? { headers: headers.length ? headers.map(withPresets) : undefined } : {}),
  }
}

const withPresets = <T extends object>(variable: T) => ({ description: '', required: false, ...variable })

/** The whole registry, servers by name. */
export function toRegistry(
  { version, lastUpdated, groups }: RegistryDocument,
  servers: readonly ServerJson[],
) {
  return {
    version,
    last_updated: lastUpdated,
    servers: {},
    ...byName(split(servers)),
    ...(groups.length
      ? {
          groups: groups.map(group => ({
            name: group.name,
            description: group.description ?? '',
            ...byName(split(group.servers)),
          })),
        }
      : {}),
  }
}

function byName({ images, remotes }: Split) {
  const table = (list: readonly ServerAnswer[]) =>
    Object.fromEntries(list.map(server => [String(server.name), server]))
  return {
    ...(images.length ? { servers: table(images) } : {}),
    ...(remotes.length ? { remote_servers: table(remotes) } : {}),
  }
}

export const toEntry = (server: ServerJson): ServerJson => ({
  ...server,
  $schema: server.$schema ?? SERVER_SCHEMA,
})
