import { permissionProfileSchema } from '../../../src/contracts/run-config.ts'
import {
  anything,
  bool,
  list,
  map,
  number,
  object,
  optional,
  type Schema,
  type TypeOf,
  text,
  textMap,
  texts,
} from '../../../src/lib/schema.ts'
import { choice, expected, word } from './limits.ts'

/** A port that a server names. */
export const serverPort: Schema<number> = { type: 'integer', minimum: 1, maximum: 65535 }

const envVar = object({
  name: word(/^[A-Za-z_][A-Za-z0-9_]*$/),
  description: optional(text),
  default: optional(text),
  required: optional(bool),
  secret: optional(bool),
})
/** An environment variable as the older format and the management API write it. */
export type EnvVar = TypeOf<typeof envVar>

const provenance = object({
  attestation: optional(object({ predicate: optional(anything), predicate_type: optional(text) })),
  cert_issuer: optional(text),
  repository_ref: optional(text),
  repository_uri: optional(text),
  runner_environment: optional(text),
  signer_identity: optional(text),
  sigstore_url: optional(text),
})
export type Provenance = TypeOf<typeof provenance>

const oauthConfig = object({
  authorize_url: optional(text),
  token_url: optional(text),
  issuer: optional(text),
  client_id: optional(text),
  resource: optional(text),
  callback_port: optional(serverPort),
  use_pkce: optional(bool),
  scopes: optional(texts),
  oauth_params: optional(textMap),
})

export type OAuthConfig = TypeOf<typeof oauthConfig>

const status = choice('active', 'deprecated', 'Active', 'Deprecated')

/** Members that the older format has in a server, and the newer one in ToolHive's extension of it. */
export const serverFacts = {
  status: optional(status),
  tier: optional(choice('Official', 'Community')),
  tools: optional(list(word(/^[\w.-]+$/))),
  tags: optional(list(word(/^[a-z0-9][a-z0-9_-]*[a-z0-9]$/))),
  overview: optional(text),
  metadata: optional(
    object({
      stars: optional(number),
      last_updated: optional(text),
      kubernetes: optional(textMap),
    }),
  ),
  custom_metadata: optional(map(anything)),
  permissions: optional(permissionProfileSchema),
  args: optional(texts),
  provenance: optional(provenance),
  docker_tags: optional(texts),
  proxy_port: optional(serverPort),
  stateless: optional(bool),
  oauth_config: optional(oauthConfig),
  env_vars: optional(list(envVar)),
  tool_definitions: optional(list(map(anything))),
}

export const extension = object({ ...serverFacts, status: expected(status) })
/** What ToolHive's registries say beyond server.json; one such object per image or URL. */
export type Extension = TypeOf<typeof extension>
