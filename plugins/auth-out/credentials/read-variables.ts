import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'

const BEARER_TOKEN = 'KEELSON_REMOTE_AUTH_BEARER_TOKEN'

/** Takes secrets from the environment of a command where no flag gives any. */
export function readVariables(config: RunConfig, env: App['env']): RunConfig {
  const { remote_auth_config: auth = {} } = config
  const token = env[BEARER_TOKEN]
  if (!token || auth.bearer_token || auth.bearer_token_file) return config
  return { ...config, remote_auth_config: { ...auth, bearer_token: token } }
}
