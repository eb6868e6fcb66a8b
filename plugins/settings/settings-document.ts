import * as t from 'typanion'

/** How to sign in to a registry that asks for it. Tokens themselves are never kept here. */
export interface RegistryAuth {
  type: 'oauth'
  oauth: {
    issuer: string
    client_id: string
    audience?: string
    scopes?: string[]
    /** Port of this machine that the browser comes back to. */
    callback_port?: number
  }
}

export interface OtelSettings {
  endpoint?: string
  'sampling-rate'?: number
  'env-vars'?: string[]
  'metrics-enabled'?: boolean
  'tracing-enabled'?: boolean
  insecure?: boolean
  'enable-prometheus-metrics-path'?: boolean
}

/** Where secrets are kept. Passwords and values are never kept here. */
export interface SecretsSettings {
  provider_type?: string
  setup_completed?: boolean
  /** File that holds the password of the encrypted provider. */
  password_file?: string
}

/** The settings file, with ToolHive's names. Unknown members are kept by every change. */
export interface SettingsDocument {
  registry_url?: string
  registry_api_url?: string
  local_registry_path?: string
  allow_private_registry_ip?: boolean
  registry_auth?: RegistryAuth
  ca_certificate_path?: string
  build_env?: Record<string, string>
  build_env_from_secrets?: Record<string, string>
  build_env_from_shell?: string[]
  build_auth_files?: Record<string, string>
  otel?: OtelSettings
  disable_usage_metrics?: boolean
  /** Whether callers on this machine must bring the caller token. */
  caller_token?: 'required'
  secrets?: SecretsSettings
}

const optional = t.isOptional
const open = { extra: t.isUnknown() }
const strings = t.isArray(t.isString())

/** What each member must look like; checked when the member is read. */
export const schemas: { [K in keyof Required<SettingsDocument>]: t.StrictValidator<unknown, unknown> } = {
  registry_url: t.isString(),
  registry_api_url: t.isString(),
  local_registry_path: t.isString(),
  allow_private_registry_ip: t.isBoolean(),
  registry_auth: t.isObject(
    {
      type: t.isLiteral('oauth'),
      oauth: t.isObject(
        {
          issuer: t.isString(),
          client_id: t.isString(),
          audience: optional(t.isString()),
          scopes: optional(strings),
          callback_port: optional(t.isNumber()),
        },
        open,
      ),
    },
    open,
  ),
  ca_certificate_path: t.isString(),
  build_env: t.isRecord(t.isString()),
  build_env_from_secrets: t.isRecord(t.isString()),
  build_env_from_shell: strings,
  build_auth_files: t.isRecord(t.isString()),
  otel: t.isObject(
    {
      endpoint: optional(t.isString()),
      'sampling-rate': optional(t.isNumber()),
      'env-vars': optional(strings),
      'metrics-enabled': optional(t.isBoolean()),
      'tracing-enabled': optional(t.isBoolean()),
      insecure: optional(t.isBoolean()),
      'enable-prometheus-metrics-path': optional(t.isBoolean()),
    },
    open,
  ),
  disable_usage_metrics: t.isBoolean(),
  caller_token: t.isLiteral('required'),
  secrets: t.isObject(
    {
      provider_type: optional(t.isString()),
      setup_completed: optional(t.isBoolean()),
      password_file: optional(t.isString()),
    },
    open,
  ),
}
