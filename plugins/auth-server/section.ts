import { sectionRequest } from '../../src/http/section-request.ts'
import {
  bool,
  closed,
  integer,
  list,
  nullable,
  type ObjectOf,
  object,
  oneOf,
  optional,
  type TypeOf,
  text,
  textMap,
  texts,
} from '../../src/lib/schema.ts'
import type { Section } from '../../src/plugin.ts'
import { checkAuthServer } from './check-config.ts'
import { failures } from './failures.ts'
import { sentCredentials } from './sent-credentials.ts'

const userinfo = optional(
  object({
    endpoint_url: optional(text),
    http_method: optional(text),
    additional_headers: optional(textMap),
    field_mapping: optional(
      object({
        email_fields: optional(texts),
        name_fields: optional(texts),
        subject_fields: optional(texts),
      }),
    ),
  }),
)

const upstreamClient = {
  client_id: optional(text),
  client_secret_env_var: optional(text),
  client_secret_file: optional(text),
  /** Where the provider sends people back to; absent: `/oauth/callback` of this server, with the name behind from the second one on. */
  redirect_uri: optional(text),
  scopes: optional(texts),
  allow_private_ips: optional(bool),
  additional_authorization_params: optional(textMap),
}

const oauth2Upstream = object({
  ...upstreamClient,
  authorization_endpoint: optional(text),
  token_endpoint: optional(text),
  dcr_config: optional(
    object({
      discovery_url: optional(text),
      initial_access_token_env_var: optional(text),
      initial_access_token_file: optional(text),
      registration_endpoint: optional(text),
      software_id: optional(text),
      software_statement: optional(text),
    }),
  ),
  identity_from_token: optional(
    object({ email_path: optional(text), name_path: optional(text), subject_path: optional(text) }),
  ),
  token_response_mapping: optional(
    object({
      access_token_path: optional(text),
      expires_in_path: optional(text),
      refresh_token_path: optional(text),
      scope_path: optional(text),
    }),
  ),
  userinfo,
})

const oidcUpstream = object({
  ...upstreamClient,
  issuer_url: text,
  subject_claim: optional(text),
  userinfo_override: userinfo,
})

const tls = optional(object({ ca_cert_file: optional(text), insecure_skip_verify: optional(bool) }))

const redis = object({
  addr: optional(text),
  auth_type: optional(text),
  dial_timeout: optional(text),
  read_timeout: optional(text),
  write_timeout: optional(text),
  key_prefix: optional(text),
  cluster_mode: optional(bool),
  acl_user_config: optional(object({ password_env_var: optional(text), username_env_var: optional(text) })),
  sentinel_config: optional(
    object({ db: optional(integer), master_name: optional(text), sentinel_addrs: optional(texts) }),
  ),
  tls,
  sentinel_tls: tls,
})

export const STORAGE_TYPES = ['memory', 'sqlite', 'redis'] as const

export const authServerSchema = object(
  {
    schema_version: optional(text),
    /** Absent: the origin of the workload's own proxy. */
    issuer: optional(text),
    authorization_endpoint_base_url: optional(text),
    /** Absent: the URL of the workload. */
    allowed_audiences: optional(texts),
    scopes_supported: optional(texts),
    baseline_client_scopes: optional(texts),
    insecure_allow_http: optional(bool),
    disable_upstream_token_injection: optional(bool),
    /** Clients may register with a secret. Only they can exchange tokens, present assertions and introspect. */
    allow_confidential_clients: optional(bool),
    /** `claim=value`: who may log in, as the first upstream provider says. Required where anybody has an account. */
    allowed_logins: optional(texts),
    /** Issuers whose assertions are exchanged for tokens (RFC 7523). */
    trusted_issuers: optional(
      list(
        object(
          {
            ...{ issuer: text, jwks_url: optional(text), jwks_file: optional(text) },
            /** As `allowed_logins` of the server, for the claims of this issuer; absent: that one. Empty: everybody. */
            allowed_logins: optional(texts),
          },
          closed,
        ),
      ),
    ),
    hmac_secret_files: optional(texts),
    signing_key_config: optional(
      object({
        key_dir: optional(text),
        signing_key_file: optional(text),
        fallback_key_files: optional(texts),
      }),
    ),
    token_lifespans: optional(
      object({
        access_token_lifespan: optional(text),
        refresh_token_lifespan: optional(text),
        auth_code_lifespan: optional(text),
      }),
    ),
    cimd: optional(
      object({
        enabled: optional(bool),
        cache_max_size: optional(integer),
        cache_fallback_ttl: optional(text),
        /** Documents may be at http on loopback, where strangers choose the port; for development. Ours. */
        allow_loopback: optional(bool),
      }),
    ),
    storage: optional(object({ type: optional(oneOf(STORAGE_TYPES)), redis_config: optional(redis) })),
    upstreams: list(
      object({
        name: optional(text),
        type: oneOf(['oidc', 'oauth2']),
        oidc_config: optional(oidcUpstream),
        oauth2_config: optional(oauth2Upstream),
      }),
    ),
  },
  closed,
)

const members = { embedded_auth_server_config: optional(nullable(authServerSchema)) }

declare module '../../src/contracts/run-config.ts' {
  interface RunConfig extends ObjectOf<typeof members> {}
}

export type AuthServerConfig = TypeOf<typeof authServerSchema>
export type UpstreamConfig = AuthServerConfig['upstreams'][number]

/** The authorization server of a workload. */
export const authServerSection: Section = {
  members,
  request: sectionRequest({
    body: members,
    toOptions: () => ({}),
    toMembers({ embedded_auth_server_config: asked }, kept) {
      assertNoOtherCredential(asked, kept.embedded_auth_server_config)
      return asked === undefined ? {} : { embedded_auth_server_config: asked }
    },
    kept: ['embedded_auth_server_config'],
    keptAlways: ['embedded_auth_server_config'],
  }),
  // No request keeps what its caller has logged in with.
  middlewareEntries: [{ type: 'strip-auth', member: 'embedded_auth_server_config' }],
  check({ embedded_auth_server_config: config }) {
    if (config) checkAuthServer(config)
  },
}

/** A request may not have files and variables of ours sent anywhere, unless the workload has done so before. */
function assertNoOtherCredential(
  asked: AuthServerConfig | null | undefined,
  before: AuthServerConfig | null | undefined,
): void {
  const known = before ? sentCredentials(before) : []
  const other = (asked ? sentCredentials(asked) : []).find(
    ({ source, receiver }) => !known.some(one => one.source === source && one.receiver === receiver),
  )
  if (other) throw failures.auth_server_credential_over_http(other)
}
