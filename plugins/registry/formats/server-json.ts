import type { PermissionProfile } from '../../../src/contracts/run-config.ts'

/** Schema that written documents name (MCP registry, server.json of 2025-12-11). */
export const SERVER_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'

export interface Variable {
  description?: string
  default?: string
  format?: string
  placeholder?: string
  value?: string
  choices?: string[]
  isRequired?: boolean
  isSecret?: boolean
}

/** An environment variable or a header. */
export interface Input extends Variable {
  name: string
  variables?: Record<string, Variable>
}

export interface Argument extends Omit<Input, 'name'> {
  type: string
  name?: string
  valueHint?: string
  isRepeated?: boolean
}

export interface TransportSpec {
  type: string
  url?: string
  headers?: Input[]
  variables?: Record<string, Variable>
}

export interface Package {
  /** oci, npm, pypi; `go` is ours; nuget and mcpb are kept and shown, but not run. */
  registryType: string
  registryBaseUrl?: string
  identifier: string
  version?: string
  fileSha256?: string
  runtimeHint?: string
  transport: TransportSpec
  environmentVariables?: Input[]
  runtimeArguments?: Argument[]
  packageArguments?: Argument[]
}

export interface Icon {
  src: string
  mimeType?: string
  sizes?: string[]
  theme?: string
}

/** What ToolHive's registries say beyond server.json; one such object per image or URL. */
export interface Extension {
  status?: string
  tier?: string
  tools?: string[]
  tags?: string[]
  overview?: string
  metadata?: { stars?: number; last_updated?: string; kubernetes?: Record<string, string> }
  custom_metadata?: Record<string, unknown>
  permissions?: PermissionProfile
  args?: string[]
  provenance?: Provenance
  docker_tags?: string[]
  proxy_port?: number
  stateless?: boolean
  oauth_config?: OAuthConfig
  env_vars?: EnvVar[]
  tool_definitions?: Record<string, unknown>[]
}

export interface Provenance {
  attestation?: { predicate?: unknown; predicate_type?: string }
  cert_issuer?: string
  repository_ref?: string
  repository_uri?: string
  runner_environment?: string
  signer_identity?: string
  sigstore_url?: string
}

export interface OAuthConfig {
  authorize_url?: string
  token_url?: string
  issuer?: string
  client_id?: string
  resource?: string
  callback_port?: number
  use_pkce?: boolean
  scopes?: string[]
  oauth_params?: Record<string, string>
}

/** An environment variable as the older format and the management API write it. */
export interface EnvVar {
  name: string
  description?: string
  default?: string
  required?: boolean
  secret?: boolean
}

/**
 * A server as the MCP registry describes it: our one internal model. Members that nobody here knows
 * are kept as they are.
 */
export interface ServerJson {
  $schema?: string
  name: string
  title?: string
  description: string
  version: string
  websiteUrl?: string
  icons?: Icon[]
  repository?: { url?: string; source?: string; id?: string; subfolder?: string }
  packages?: Package[]
  remotes?: TransportSpec[]
  _meta?: Record<string, unknown>
}

/** A skill as ToolHive's registries list it. */
export interface SkillEntry {
  namespace: string
  name: string
  description: string
  version: string
  status?: string
  title?: string
  license?: string
  compatibility?: string
  allowedTools?: string[]
  repository?: { url?: string; type?: string }
  icons?: { src?: string; size?: string; type?: string; label?: string }[]
  packages?: SkillPackage[]
  metadata?: Record<string, unknown>
  _meta?: Record<string, unknown>
}

export interface SkillPackage {
  registryType: string
  identifier?: string
  digest?: string
  mediaType?: string
  url?: string
  ref?: string
  commit?: string
  subfolder?: string
}
