import * as t from 'typanion'
import { permissionProfileSchema } from '../../../src/contracts/run-config.ts'
import { toCheck } from '../../../src/schema-check.ts'
import {
  anyMap,
  boolean,
  type Limits,
  list,
  object,
  optional,
  port,
  string,
  strings,
} from './schema-checks.ts'

/** Members that the older format has in a server, and the newer one in ToolHive's extension of it. */
export function serverFacts({ word, oneOf }: Limits) {
  const envName = word(/^[A-Za-z_][A-Za-z0-9_]*$/)
  const envVars = list(
    object({ name: envName, description: string, default: string, required: boolean, secret: boolean }),
  )
  return {
    status: optional(oneOf(['active', 'deprecated', 'Active', 'Deprecated'])),
    tier: optional(oneOf(['Official', 'Community'])),
    tools: optional(list(word(/^[\w.-]+$/))),
    tags: optional(list(word(/^[a-z0-9][a-z0-9_-]*[a-z0-9]$/))),
    overview: string,
    metadata: optional(
      object({
        stars: optional(t.isNumber()),
        last_updated: string,
        kubernetes: optional(t.isRecord(t.isString())),
      }),
    ),
    custom_metadata: optional(anyMap),
    permissions: optional(toCheck(permissionProfileSchema)),
    args: optional(strings),
    provenance: optional(
      object({
        attestation: optional(object({ predicate_type: string })),
        cert_issuer: string,
        repository_ref: string,
        repository_uri: string,
        runner_environment: string,
        signer_identity: string,
        sigstore_url: string,
      }),
    ),
    docker_tags: optional(strings),
    proxy_port: optional(port),
    stateless: boolean,
    oauth_config: optional(
      object({
        authorize_url: string,
        token_url: string,
        issuer: string,
        client_id: string,
        resource: string,
        callback_port: optional(port),
        use_pkce: boolean,
        scopes: optional(strings),
        oauth_params: optional(t.isRecord(t.isString())),
      }),
    ),
    env_vars: optional(envVars),
    tool_definitions: optional(t.isArray(object({}))),
  }
}
