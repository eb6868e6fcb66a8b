import * as t from 'typanion'
import { permissionProfileSchema } from '../../../src/contracts/run-config.ts'

/** `shape`: what code relies on. `full`: every limit of the published schemas too. */
export type Strictness = 'shape' | 'full'

type Check = t.StrictValidator<unknown, unknown>
type Members = Record<string, Check>

const optional = t.isOptional
const object = (members: Members): Check =>
  t.isObject(members as Record<string, t.AnyStrictValidator>, { extra: t.isUnknown() })
const strings = t.isArray(t.isString())
const string = optional(t.isString())
const boolean = optional(t.isBoolean())
const anyMap = t.isRecord(t.isUnknown())
const port = t.cascade(t.isNumber(), [t.isInteger(), t.isInInclusiveRange(1, 65535)])

/** Validators of registry documents at one strictness. */
export function registrySchemas(strictness: Strictness) {
  const full = strictness === 'full'

  const text = (min: number, max: number, pattern?: RegExp): Check =>
    full
      ? t.cascade(t.isString(), [
          t.hasMinLength(min),
          t.hasMaxLength(max),
          ...(pattern ? [t.matchesRegExp(pattern)] : []),
        ])
      : t.isString()
  const word = (pattern: RegExp): Check => text(1, 255, pattern)
  const oneOf = (values: readonly string[]): Check => (full ? t.isEnum([...values]) : t.isString())
  const list = (item: Check): Check => t.isArray(item)

  const envName = word(/^[A-Za-z_][A-Za-z0-9_]*$/)
  const envVars = list(
    object({ name: envName, description: string, default: string, required: boolean, secret: boolean }),
  )
  const facts = {
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
    permissions: optional(permissionProfileSchema as Check),
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

  const variableMembers = {
    description: string,
    default: string,
    format: optional(oneOf(['string', 'number', 'boolean', 'filepath'])),
    placeholder: string,
    value: string,
    choices: optional(strings),
    isRequired: boolean,
    isSecret: boolean,
  }
  const variables = optional(t.isRecord(object(variableMembers)))
  const inputs = optional(list(object({ ...variableMembers, name: t.isString(), variables })))
  const args = optional(
    list(
      object({
        ...variableMembers,
        type: oneOf(['positional', 'named']),
        name: string,
        valueHint: string,
        isRepeated: boolean,
        variables,
      }),
    ),
  )
  const transport = (types: readonly string[], url: Check): Check =>
    object({ type: oneOf(types), url, headers: inputs, variables })

  const server = object({
    $schema: string,
    name: text(3, 200, /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
    title: optional(text(1, 100)),
    description: text(1, 100),
    version: text(1, 255),
    websiteUrl: string,
    icons: optional(
      list(object({ src: text(1, 255), mimeType: string, sizes: optional(strings), theme: string })),
    ),
    repository: optional(
      object({
        url: full ? t.isString() : string,
        source: full ? t.isString() : string,
        id: string,
        subfolder: string,
      }),
    ),
    packages: optional(
      list(
        object({
          registryType: text(1, 255),
          registryBaseUrl: string,
          identifier: text(1, 4096),
          version: string,
          fileSha256: optional(word(/^[a-f0-9]{64}$/)),
          runtimeHint: string,
          transport: transport(['stdio', 'sse', 'streamable-http'], string),
          environmentVariables: inputs,
          runtimeArguments: args,
          packageArguments: args,
        }),
      ),
    ),
    remotes: optional(list(transport(['sse', 'streamable-http'], text(1, 4096, /^https?:\/\//)))),
    _meta: optional(anyMap),
  })

  const extension = object({
    ...facts,
    ...(full ? { status: oneOf(['active', 'deprecated', 'Active', 'Deprecated']) } : {}),
  })

  const skill = object({
    namespace: text(3, 128),
    name: text(1, 64),
    description: text(1, 1024),
    version: text(1, 255),
    status: optional(oneOf(['active', 'deprecated', 'archived', 'ACTIVE', 'DEPRECATED', 'ARCHIVED'])),
    title: optional(text(1, 100)),
    license: optional(text(1, 256)),
    compatibility: optional(text(1, 500)),
    allowedTools: optional(strings),
    repository: optional(object({ url: string, type: string })),
    icons: optional(list(object({ src: string, size: string, type: string, label: string }))),
    packages: optional(
      list(
        object({
          registryType: oneOf(['oci', 'git']),
          identifier: string,
          digest: string,
          mediaType: string,
          url: string,
          ref: string,
          commit: string,
          subfolder: string,
        }),
      ),
    ),
    metadata: optional(anyMap),
    _meta: optional(anyMap),
  })

  const legacyFacts = {
    ...facts,
    name: string,
    title: string,
    description: string,
    repository_url: string,
    transport: optional(oneOf(['stdio', 'sse', 'streamable-http'])),
  }
  const imageServer = object({ ...legacyFacts, image: t.isString(), target_port: optional(port) })
  const remoteServer = object({
    ...legacyFacts,
    url: t.isString(),
    headers: optional(
      list(
        object({
          name: t.isString(),
          description: string,
          default: string,
          choices: optional(strings),
          required: boolean,
          secret: boolean,
        }),
      ),
    ),
  })

  const upstreamFile = object({
    $schema: string,
    version: full ? t.cascade(t.isString(), [t.matchesRegExp(/^\d+\.\d+\.\d+$/)]) : string,
    meta: optional(object({ last_updated: string })),
    data: object({
      servers: optional(t.isArray(t.isUnknown())),
      skills: optional(t.isArray(t.isUnknown())),
      plugins: optional(t.isArray(t.isUnknown())),
      groups: optional(
        t.isArray(object({ name: t.isString(), servers: optional(t.isArray(t.isUnknown())) })),
      ),
    }),
  })
  const legacyFile = object({
    version: string,
    last_updated: string,
    servers: optional(t.isRecord(t.isUnknown())),
    remote_servers: optional(t.isRecord(t.isUnknown())),
    groups: optional(
      t.isArray(
        object({
          name: t.isString(),
          description: string,
          servers: optional(t.isRecord(t.isUnknown())),
          remote_servers: optional(t.isRecord(t.isUnknown())),
        }),
      ),
    ),
  })

  return { server, extension, skill, imageServer, remoteServer, upstreamFile, legacyFile }
}

export type RegistrySchemas = ReturnType<typeof registrySchemas>
