import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'

const BEARER_TOKEN = 'KEELSON_REMOTE_AUTH_BEARER_TOKEN'

const CLIENT_SECRET = 'SVC_REMOTE_OAUTH_CLIENT_SECRET'

/** Takes secrets from the environment of a command where no flag gives any. */
export function readVariables(config: RunConfig, env: App['env']): RunConfig {
  const { remote_auth_config: auth = {} } = config
  const token = auth.bearer_token || auth.bearer_token_file ? undefined : env[BEARER_TOKEN]
  const isOpen = auth.client_id && !auth.client_secret && !auth.client_secret_file
  const secret = isOpen ? env[CLIENT_SECRET] : undefined
  if (!token && !secret) return config
  const found = { ...(token ? { bearer_token: token } : {}), ...(secret ? { client_secret: secret } : {}) }
  return { ...config, remote_auth_config: { ...auth, ...found } }
}
