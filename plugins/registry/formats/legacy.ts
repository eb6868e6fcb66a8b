import type { PermissionProfile } from '../../../src/contracts/run-config.ts'
import type { EnvVar, Extension, OAuthConfig } from './server-json.ts'

/** What image and remote servers have in common. Names are those of the management API. */
interface ServerFacts
  extends Pick<
    Extension,
    | 'status'
    | 'tier'
    | 'tools'
    | 'tags'
    | 'overview'
    | 'metadata'
    | 'custom_metadata'
    | 'proxy_port'
    | 'stateless'
    | 'tool_definitions'
  > {
  name?: string
  title?: string
  description?: string
  repository_url?: string
  transport?: string
  env_vars?: EnvVar[]
}

/** A server that runs here: from an image, or from a package (`npx://…`, `uvx://…`, `go://…` as image). */
export interface ImageServer extends ServerFacts, Pick<Extension, 'args' | 'provenance' | 'docker_tags'> {
  image: string
  target_port?: number
  permissions?: PermissionProfile
}

export interface Header {
  name: string
  description?: string
  default?: string
  choices?: string[]
  required?: boolean
  secret?: boolean
}

/** A server that runs elsewhere. */
export interface RemoteServer extends ServerFacts {
  url: string
  headers?: Header[]
  oauth_config?: OAuthConfig
}

export type ServerView = ImageServer | RemoteServer
export const isRemote = (server: ServerView): server is RemoteServer => 'url' in server

export interface LegacyGroup {
  name: string
  description?: string
  servers?: Record<string, ImageServer>
  remote_servers?: Record<string, RemoteServer>
}

/** A registry file of the older format. */
export interface LegacyRegistry {
  $schema?: string
  version?: string
  last_updated?: string
  servers?: Record<string, ImageServer>
  remote_servers?: Record<string, RemoteServer>
  groups?: LegacyGroup[]
}
