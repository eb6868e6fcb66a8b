import { dirname, resolve } from 'node:path'
import { failures as core, messageOf } from '../../src/errors.ts'
import { findErrors } from '../../src/schema-check.ts'
import { readUserFile } from '../../src/user-file.ts'
import { type AuthServerConfig, authServerSchema, type UpstreamConfig } from './section.ts'

/**
 * Reads `--auth-server-config`: the members of `embedded_auth_server_config`, as JSON or YAML. Files that it names are
 * found from its own folder. Fails with `file_missing`, `file_unreadable` and `invalid_file`.
 */
export async function readConfigFile(path: string): Promise<AuthServerConfig> {
  const text = await readUserFile(path, 'The --auth-server-config')
  const { parseYaml } = await import('../../src/lib/parse-yaml.ts')
  let value: unknown
  try {
    value = parseYaml(text)
  } catch (error) {
    throw core.invalid_file({ path, problem: messageOf(error) }, { cause: error })
  }
  const problem = findErrors(authServerSchema, value)
  if (problem !== undefined) throw core.invalid_file({ path, problem })
  return withWholePaths(value as AuthServerConfig, dirname(resolve(path)))
}

/** The server runs in another folder than the one where its files were named. */
function withWholePaths(config: AuthServerConfig, folder: string): AuthServerConfig {
  const { upstreams, storage, signing_key_config: signing, hmac_secret_files: secrets } = config
  const whole = <K extends string>(member: K, path: string | undefined): { [N in K]?: string } =>
    (path ? { [member]: resolve(folder, path) } : {}) as { [N in K]?: string }
  const withFiles = (upstream: UpstreamConfig): UpstreamConfig => {
    const { oidc_config: oidc, oauth2_config: oauth2 } = upstream
    const dcr = oauth2?.dcr_config
    const token = dcr && { ...dcr, ...whole('initial_access_token_file', dcr.initial_access_token_file) }
    return {
      ...upstream,
      ...(oidc && { oidc_config: { ...oidc, ...whole('client_secret_file', oidc.client_secret_file) } }),
      ...(oauth2 && {
        oauth2_config: {
          ...oauth2,
          ...whole('client_secret_file', oauth2.client_secret_file),
          ...(token && { dcr_config: token }),
        },
      }),
    }
  }
  const redis = storage?.redis_config
  const tls = (member: 'tls' | 'sentinel_tls') => {
    const given = redis?.[member]
    return given && { [member]: { ...given, ...whole('ca_cert_file', given.ca_cert_file) } }
  }
  return {
    ...config,
    upstreams: upstreams.map(withFiles),
    ...(secrets && { hmac_secret_files: secrets.map(path => resolve(folder, path)) }),
    ...(signing && { signing_key_config: { ...signing, key_dir: resolve(folder, signing.key_dir ?? '') } }),
    ...(redis && {
      storage: { ...storage, redis_config: { ...redis, ...tls('tls'), ...tls('sentinel_tls') } },
    }),
    ...(config.trusted_issuers && {
      trusted_issuers: config.trusted_issuers.map(issuer => ({
        ...issuer,
        ...whole('jwks_file', issuer.jwks_file),
      })),
    }),
  }
}
