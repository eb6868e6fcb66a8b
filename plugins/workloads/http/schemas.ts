import { STATUSES } from '../../../src/contracts/workload.ts'
import {
  bool,
  closed,
  described,
  either,
  integer,
  list,
  map,
  nullable,
  object,
  oneOf,
  optional,
  port,
  text,
  textMap,
  texts,
} from '../../../src/lib/schema.ts'

/** A workload as lists show it. */
export const workloadItem = object(
  {
    name: text,
    package: text,
    url: text,
    port: integer,
    transport_type: text,
    status: oneOf(STATUSES),
    created_at: text,
    started_at: text,
    proxy_mode: optional(text),
    status_context: optional(text),
    labels: optional(textMap),
    group: optional(text),
    tools: optional(texts),
    remote: optional(bool),
    no_sandbox: optional(bool),
  },
  closed,
)

export const permissionProfile = object(
  {
    name: optional(text),
    read: optional(texts),
    write: optional(texts),
    privileged: optional(bool),
    network: optional(
      object({
        mode: optional(text),
        inbound: optional(object({ allow_host: optional(texts) })),
        outbound: optional(
          object({
            insecure_allow_all: optional(bool),
            allow_host: optional(texts),
            allow_port: optional(list(port)),
          }),
        ),
      }),
    ),
  },
  { description: 'What the server may read, write and reach' },
)

const secretReference = object({ name: text, target: text })

const runtimeConfig = object({
  builder_image: optional(text),
  additional_packages: optional(texts),
  build_with: optional(texts),
  runtime_env: optional(textMap),
})

/** Members whose features are not here yet: their shape is checked, and whatever is in them is refused. */
const unsupported = {
  authz_config: optional(text),
  oidc: optional(object({})),
  tools: optional(texts),
  tools_override: optional(map(object({}))),
  headers: optional(list(object({}))),
}

/** How keelson logs in to a remote server. */
const oauthConfig = object({
  bearer_token: optional(secretReference),
  client_secret: optional(secretReference),
  client_id: optional(text),
  issuer: optional(text),
  authorize_url: optional(text),
  token_url: optional(text),
  resource: optional(text),
  scopes: optional(texts),
  oauth_params: optional(textMap),
  callback_port: optional(port),
  skip_browser: optional(bool),
  use_pkce: optional(bool),
})

const headerForward = object({
  add_headers_from_secret: optional(textMap),
  add_plaintext_headers: optional(textMap),
})

/** Members that a run config has and ToolHive's requests have not: what they ask for is kept too. */
const runConfigMembers = {
  remote_url: optional(text),
  source: optional(text),
  cmd_args: optional(texts),
  runtime: optional(text),
  target_host: optional(text),
  publish: optional(texts),
  env_file_dir: optional(text),
  container_labels: optional(textMap),
  resources: optional(object({ memory: optional(text), cpus: optional(text) })),
  permission_profile_name_or_path: optional(
    described(text, '`none` or `network`; beside `permission_profile` it is only a name'),
  ),
  isolate_network: optional(bool),
  ignore_config: optional(object({ loadGlobal: optional(bool), printOverlays: optional(bool) })),
  image_verification: optional(text),
  allowed_origins: optional(texts),
  endpoint_prefix: optional(text),
  session_ttl: optional(text),
  stateless: optional(bool),
  remote_must_be_public: optional(bool),
  debug: optional(bool),
}

const editable = {
  image: optional(text),
  url: optional(text),
  runtime_config: optional(runtimeConfig),
  host: optional(text),
  cmd_arguments: optional(texts),
  volumes: optional(texts),
  target_port: optional(port),
  proxy_port: optional(port),
  env_vars: optional(textMap),
  secrets: optional(
    list(either(secretReference, described(text, 'As a run config has it: `NAME,target=VARIABLE`'))),
  ),
  transport: optional(text),
  proxy_mode: optional(text),
  permission_profile: optional(permissionProfile),
  network_isolation: optional(bool),
  trust_proxy_headers: optional(bool),
  allow_docker_gateway: optional(bool),
  no_sandbox: optional(bool),
  group: optional(text),
  oauth_config: optional(oauthConfig),
  header_forward: optional(headerForward),
  ...runConfigMembers,
  ...unsupported,
}

/** What a workload is edited to; what the details do not show stays unless it is named. */
export const editBody = object(editable)

export const createBody = object({
  name: optional(text),
  registry: optional(text),
  server: optional(text),
  accept_permissions: optional(
    described(text, 'The hash of the mounts that the user has agreed to, from a 409'),
  ),
  ...editable,
})

export const bulkBody = object({ names: optional(texts), group: optional(text) })

const oidc = object(
  {
    issuer: text,
    audience: text,
    jwks_url: text,
    introspection_url: text,
    client_id: text,
    client_secret: text,
    scopes: optional(texts),
  },
  closed,
)

/** A workload in the shape that it is created in. */
export const workloadDetails = object(
  {
    name: text,
    image: text,
    url: optional(text),
    host: text,
    cmd_arguments: texts,
    target_port: integer,
    proxy_port: integer,
    env_vars: textMap,
    secrets: list(secretReference),
    volumes: texts,
    transport: text,
    authz_config: text,
    oidc,
    permission_profile: nullable(permissionProfile),
    proxy_mode: text,
    network_isolation: bool,
    trust_proxy_headers: bool,
    tools: texts,
    tools_override: map(object({})),
    oauth_config: oauthConfig,
    header_forward: optional(headerForward),
    runtime_config: optional(runtimeConfig),
    allow_docker_gateway: optional(bool),
    no_sandbox: optional(bool),
    group: optional(text),
  },
  closed,
)

/** A run config; members of plugins stand beside those of the core. */
export const runConfig = object(
  {
    schema_version: text,
    name: text,
    image: text,
    transport: text,
    host: text,
    port: integer,
    permission_profile: nullable(permissionProfile),
  },
  { additionalProperties: true, description: 'The run config, as `keelson export` writes it' },
)

export const nameAndPort = object({ name: text, port: integer }, closed)
