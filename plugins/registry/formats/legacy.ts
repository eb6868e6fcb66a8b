import {
  anything,
  bool,
  list,
  map,
  object,
  optional,
  type TypeOf,
  text,
  texts,
} from '../../../src/lib/schema.ts'
import { choice } from './limits.ts'
import { serverFacts, serverPort } from './server-facts.ts'

/** What image and remote servers have in common. Names are those of the management API. */
const facts = {
  ...serverFacts,
  name: optional(text),
  title: optional(text),
  description: optional(text),
  repository_url: optional(text),
  transport: optional(choice('stdio', 'sse', 'streamable-http')),
}

export const imageServer = object({ ...facts, image: text, target_port: optional(serverPort) })
/** A server that runs here: from an image, or from a package (`npx://…`, `uvx://…`, `go://…` as image). */
export type ImageServer = TypeOf<typeof imageServer>

const header = object({
  name: text,
  description: optional(text),
  default: optional(text),
  choices: optional(texts),
  required: optional(bool),
  secret: optional(bool),
})
export type Header = TypeOf<typeof header>

export const remoteServer = object({ ...facts, url: text, headers: optional(list(header)) })
/** A server that runs elsewhere. */
export type RemoteServer = TypeOf<typeof remoteServer>

export type ServerView = ImageServer | RemoteServer
export const isRemote = (server: ServerView): server is RemoteServer => 'url' in server

const servers = { servers: optional(map(anything)), remote_servers: optional(map(anything)) }

/** A file in the older format; its servers are checked one by one. */
export const legacyFile = object({
  version: optional(text),
  last_updated: optional(text),
  ...servers,
  groups: optional(list(object({ name: text, description: optional(text), ...servers }))),
})

interface Servers {
  servers?: Record<string, ImageServer>
  remote_servers?: Record<string, RemoteServer>
}
type LegacyFile = TypeOf<typeof legacyFile>
export type LegacyGroup = Omit<NonNullable<LegacyFile['groups']>[number], keyof Servers> & Servers

/** A registry file of the older format, whose servers have been checked. */
export type LegacyRegistry = Omit<LegacyFile, keyof Servers | 'groups'> &
  Servers & { $schema?: string; groups?: LegacyGroup[] }
