import type { App } from '../../../src/app.ts'
import { readCaBundle } from '../../../src/ca-bundle.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { parseDuration } from '../../../src/lib/duration.ts'
import { readUserFile } from '../../../src/user-file.ts'
import { saidProtocol } from '../../proxy/index.ts'
import type {} from '../../settings/index.ts'
import { createWorkloadSecrets } from '../credentials/workload-secrets.ts'
import { isMachine } from '../grant-types.ts'
import type { LoginSettings, Reach } from '../oauth/types.ts'

const DEFAULT_PORT = 8666
const DEFAULT_WAIT_MS = 5 * 60_000
/** Timers take no more than 24 days. */
const LONGEST_WAIT_MS = 86_400_000

type Auth = NonNullable<RunConfig['remote_auth_config']>

/** Members that ask for a login, whatever the server says of itself. */
const ASKING = ['issuer', 'authorize_url', 'token_url', 'client_id', 'cached_client_id'] as const

/**
 * Whether the run config says that there is a login. Of a server of the registry the entry says how to log in, and the
 * server whether: it may do with headers.
 */
export function asksForLogin({ registry_server_name, remote_auth_config: auth = {} }: RunConfig): boolean {
  if (registry_server_name !== undefined) return Boolean(auth.cached_client_id) || isMachine(auth)
  return ASKING.some(member => Boolean(auth[member]))
}

/** Whether the run config says that requests get a token, the user's own or that of a login. */
export const hasOutgoingToken = (config: RunConfig): boolean =>
  Boolean(config.remote_auth_config?.bearer_token || config.remote_auth_config?.bearer_token_file) ||
  asksForLogin(config)

/** What the run config and the user's settings say of the login. */
export async function readLoginSettings(app: App, config: RunConfig): Promise<LoginSettings> {
  const { remote_auth_config: auth = {} } = config
  const { client_secret: secret, client_secret_file: file, callback_port: port } = auth
  const { private_key: key, private_key_file: keyFile } = auth
  const secrets = createWorkloadSecrets(app)
  const text = file ? (await readUserFile(file, 'The client secret file')).trim() : undefined
  return {
    issuer: auth.issuer || undefined,
    authorizeUrl: auth.authorize_url || undefined,
    tokenUrl: auth.token_url || undefined,
    placeMustBePublic: auth.must_be_public,
    clientId: auth.client_id || undefined,
    clientSecret: secret ? await secrets.valueOf(secret, config) : text,
    isMachine: isMachine(auth),
    privateKey: keyFile
      ? await readUserFile(keyFile, 'The private key file')
      : key && (await secrets.valueOf(key, config)),
    privateKeyAlgorithm: auth.signing_algorithm || undefined,
    clientMetadataUrl: await (await app.service('settings')).get('client_metadata_url'),
    scopes: auth.scopes?.length ? auth.scopes : undefined,
    scopeParameter: auth.scope_param_name || undefined,
    parameters: auth.oauth_params,
    resource: auth.resource || undefined,
    callbackPort: port && port !== DEFAULT_PORT ? port : undefined,
  }
}

/** Fails as `readCaBundle`. */
export const readReach = async (config: RunConfig): Promise<Reach> => ({
  target: config.remote_url ?? '',
  mustBePublic: config.remote_must_be_public,
  protocol: saidProtocol(config),
  ca: await readCaBundle(config.svc_ca_bundle),
})

/** How long the person may take, in milliseconds; ToolHive writes nanoseconds. */
export function waitMsOf({ timeout }: Auth): number {
  if (typeof timeout === 'number' && timeout > 0) return Math.min(timeout / 1e6, LONGEST_WAIT_MS)
  const ms = typeof timeout === 'string' ? parseDuration(timeout) : undefined
  return Math.min(ms || DEFAULT_WAIT_MS, LONGEST_WAIT_MS)
}
