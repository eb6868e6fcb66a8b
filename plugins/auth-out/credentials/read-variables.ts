import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { RunOptions } from '../../../src/contracts/run-options.ts'

const BEARER_TOKEN = 'KEELSON_REMOTE_AUTH_BEARER_TOKEN'

const CLIENT_SECRET = 'SVC_REMOTE_OAUTH_CLIENT_SECRET'

/**
 * Takes secrets from the environment of a command where no flag gives any. The secret of a client is not for one that
 * only a registry entry names.
 */
export function readVariables(config: RunConfig, env: App['env'], options: RunOptions): RunConfig {
  const { remote_auth_config: auth = {} } = config
  const token = auth.bearer_token || auth.bearer_token_file ? undefined : env[BEARER_TOKEN]
  const isForeign = config.registry_server_name !== undefined && !options['remote-auth-client-id']
  const isOpen =
    auth.client_id &&
    !isForeign &&
    !auth.client_secret &&
    !auth.client_secret_file &&
    !auth.private_key &&
    !auth.private_key_file
  const secret = isOpen ? env[CLIENT_SECRET] : undefined
  if (!token && !secret) return config
  const found = { ...(token ? { bearer_token: token } : {}), ...(secret ? { client_secret: secret } : {}) }
  return { ...config, remote_auth_config: { ...auth, ...found } }
}
