import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { RunOptions } from '../../../src/contracts/run-options.ts'

const BEARER_TOKEN = 'KEELSON_REMOTE_AUTH_BEARER_TOKEN'

const CLIENT_SECRET = 'SVC_REMOTE_OAUTH_CLIENT_SECRET'

/**
 * Takes secrets from the environment of a command where no flag gives any. They are for the server whose URL the person
 * typed: a URL of a registry entry or of a file could be anybody's. `warn` is told what is not used.
 */
export function readVariables(
  config: RunConfig,
  env: App['env'],
  { options, warn }: { options: RunOptions; warn: (text: string) => void },
): RunConfig {
  const { remote_auth_config: auth = {} } = config
  const { client_secret, client_secret_file, private_key, private_key_file } = auth
  const isOpen = auth.client_id && !client_secret && !client_secret_file && !private_key && !private_key_file
  const token = auth.bearer_token || auth.bearer_token_file ? undefined : env[BEARER_TOKEN]
  const secret = isOpen ? env[CLIENT_SECRET] : undefined
  if (!token && !secret) return config
  if (config.registry_server_name !== undefined || options['from-config'] !== undefined) {
    const names = [...(token ? [BEARER_TOKEN] : []), ...(secret ? [CLIENT_SECRET] : [])].join(' and ')
    warn(
      `${names}: not given to ${config.remote_url}, whose URL was not typed. Give a file with a flag instead.`,
    )
    return config
  }
  const found = { ...(token ? { bearer_token: token } : {}), ...(secret ? { client_secret: secret } : {}) }
  return { ...config, remote_auth_config: { ...auth, ...found } }
}
