import {
  bool,
  number,
  type ObjectOf,
  object,
  oneOf,
  optional,
  type TypeOf,
  text,
  textMap,
  texts,
} from '../../src/lib/schema.ts'

/** How to sign in to a registry that asks for it. Tokens themselves are never kept here. */
const registryAuth = object({
  type: oneOf(['oauth']),
  oauth: object({
    issuer: text,
    client_id: text,
    audience: optional(text),
    scopes: optional(texts),
    /** Port of this machine that the browser comes back to. */
    callback_port: optional(number),
  }),
})
export type RegistryAuth = TypeOf<typeof registryAuth>

const otel = object({
  endpoint: optional(text),
  'sampling-rate': optional(number),
  'env-vars': optional(texts),
  'metrics-enabled': optional(bool),
  'tracing-enabled': optional(bool),
  insecure: optional(bool),
  'enable-prometheus-metrics-path': optional(bool),
})
export type OtelSettings = TypeOf<typeof otel>

/** Where secrets are kept. Passwords and values are never kept here. */
const secrets = object({
  provider_type: optional(text),
  setup_completed: optional(bool),
  /** File that holds the password of the encrypted provider. */
  password_file: optional(text),
})

/** The members of the settings file, with ToolHive's names. Each is checked when it is read. */
export const schemas = {
  registry_url: text,
  registry_api_url: text,
  local_registry_path: text,
  allow_private_registry_ip: bool,
  registry_auth: registryAuth,
  ca_certificate_path: text,
  /** Where the document that says who we are is hosted; its URL is our client ID at remote servers. */
  client_metadata_url: text,
  build_env: textMap,
  build_env_from_secrets: textMap,
  build_env_from_shell: texts,
  build_auth_files: textMap,
  otel,
  disable_usage_metrics: bool,
  /** Whether callers on this machine must bring the caller token. */
  caller_token: oneOf(['required']),
  /** Whether requests to the HTTP API may install unsigned skills for the user. */
  unsigned_skills: oneOf(['allowed']),
  secrets,
}

/** The settings file. Unknown members are kept by every change. */
export interface SettingsDocument extends Partial<ObjectOf<typeof schemas>> {}
