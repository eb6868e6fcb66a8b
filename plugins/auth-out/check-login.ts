import type { RunConfig } from '../../src/contracts/run-config.ts'
import { failures } from '../../src/errors.ts'
import { isMachine } from './grant-types.ts'
import { PROTOCOL_PARAMETERS } from './oauth/protocol-parameters.ts'
import { toSafeUrl } from './oauth/safe-url.ts'

type RemoteAuth = NonNullable<RunConfig['remote_auth_config']>

/** Checks what a run config says of the login before any server is asked. Fails with `usage`. */
export function checkLogin(auth: RemoteAuth): void {
  assertPlaces(auth)
  assertClient(auth)
  assertParameters(auth)
}

/** Ports below this one are for the system (RFC 6335 section 6). */
const FIRST_USER_PORT = 1024

function assertPlaces({ authorize_url, token_url, ...auth }: RemoteAuth): void {
  for (const [member, url] of Object.entries({ issuer: auth.issuer, authorize_url, token_url })) {
    if (!url || toSafeUrl(url)) continue
    throw failures.usage({ text: `${member} of the login is an https URL, or http on this machine.` })
  }
  if (Boolean(authorize_url) !== Boolean(token_url) && !(token_url && isMachine(auth))) {
    throw failures.usage({ text: 'authorize_url and token_url of the login go together.' })
  }
  const resource = URL.parse(auth.resource ?? '')
  if (auth.resource && (!resource?.host || resource.hash)) {
    throw failures.usage({
      text: 'resource of the login is a URL with a host, without a fragment (RFC 8707).',
    })
  }
  if (auth.callback_port && auth.callback_port < FIRST_USER_PORT) {
    throw failures.usage({ text: `callback_port of the login is ${FIRST_USER_PORT} or more, or 0 for any.` })
  }
}

function assertClient(auth: RemoteAuth): void {
  const { client_id, client_secret, client_secret_file, private_key, private_key_file } = auth
  if (isMachine(auth) && !client_id) {
    throw failures.usage({
      text: 'grant_type client_credentials needs a client_id.',
      hint: 'Give --remote-auth-client-id with its secret or private key.',
    })
  }
  if (isMachine(auth) && (auth.bearer_token || auth.bearer_token_file)) {
    throw failures.usage({ text: 'A bearer token and grant_type client_credentials do not go together.' })
  }
  if ([client_secret, client_secret_file, private_key, private_key_file].filter(Boolean).length > 1) {
    throw failures.usage({ text: 'A client of the login has one secret or one private key.' })
  }
}

/** Fails with `usage` for parameters of the authorization URL that belong to the protocol. */
function assertParameters({ scope_param_name: scopes, oauth_params: others = {} }: RemoteAuth): void {
  const wrong = [scopes, ...Object.keys(others)].find(name => PROTOCOL_PARAMETERS.includes(name ?? ''))
  if (wrong === undefined) return
  throw failures.usage({
    text: `The parameter "${wrong}" of a login belongs to the protocol and cannot be set.`,
    hint: 'Leave it out of scope_param_name (--remote-auth-scope-param-name) and oauth_params.',
  })
}
