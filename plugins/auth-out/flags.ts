import { resolve } from 'node:path'
import { type FlagOptions, type FlagValues, flag } from '../../src/cli/flags.ts'
import { failures } from '../../src/errors.ts'
import { formatDuration } from '../../src/lib/duration.ts'
import type { RunFlags } from '../../src/plugin.ts'
import { GRANT_TYPES } from './grant-types.ts'
import type { RemoteAuthConfig } from './section.ts'

const table = {
  'remote-auth': flag.boolean(
    'log in to the remote server at once; without this flag keelson logs in when the server asks for it',
  ),
  'remote-auth-issuer': flag.string('identity provider (default: the one that the server names)', {
    placeholder: 'URL',
  }),
  'remote-auth-authorize-url': flag.string('authorization endpoint, instead of an issuer', {
    placeholder: 'URL',
  }),
  'remote-auth-token-url': flag.string('token endpoint, instead of an issuer', { placeholder: 'URL' }),
  'remote-auth-client-id': flag.string('OAuth client ID (default: keelson registers a client)', {
    placeholder: 'ID',
  }),
  'remote-auth-client-secret': flag.string(
    'secret of that client; other users can see it in the list of processes, so a file or SVC_REMOTE_OAUTH_CLIENT_SECRET is safer',
    { placeholder: 'SECRET' },
  ),
  'remote-auth-client-secret-file': flag.file('file with the secret of that client'),
  'remote-auth-grant-type': flag.choice(
    'who logs in: a person, or this machine with the secret or private key of the client',
    GRANT_TYPES,
    'authorization_code',
  ),
  'remote-auth-private-key-file': flag.file(
    'file with the private key of the client (PEM or JWK), which replaces a secret; read again each time it is needed',
  ),
  'remote-auth-signing-algorithm': flag.string(
    'algorithm of the private key (default: the one that the key names)',
    {
      placeholder: 'ALGORITHM',
    },
  ),
  'remote-auth-scopes': flag.commaList('scopes to ask for (default: those that the server names)', 'SCOPE'),
  'remote-auth-scope-param-name': flag.string('name of the scope parameter in the authorization URL', {
    placeholder: 'NAME',
  }),
  'remote-auth-resource': flag.string(
    'resource indicator (RFC 8707; default: the one that the server names)',
    {
      placeholder: 'URL',
    },
  ),
  'remote-auth-callback-port': flag.port('port of this machine that the browser returns to', {
    shown: '8666',
  }),
  'remote-auth-skip-browser': flag.boolean('print the URL to log in at, and do not open a browser'),
  'remote-auth-timeout': flag.duration('how long the login may take', undefined, { shown: '5m' }),
  'remote-auth-bearer-token': flag.string(
    'token for the remote server; other users can see it in the list of processes, so a file or KEELSON_REMOTE_AUTH_BEARER_TOKEN is safer',
    { placeholder: 'TOKEN' },
  ),
  'remote-auth-bearer-token-file': flag.file('file with that token; read again when it changes'),
  'remote-forward-headers': flag.list('header to add to every request to the remote server', 'NAME=VALUE'),
  'remote-forward-headers-secret': flag.list(
    'the same, with the value of a secret, which is read at every start',
    'NAME=SECRET',
  ),
}

declare module '../../src/contracts/run-options.ts' {
  interface RunOptions extends FlagOptions<typeof table> {}
}

/** Two flags that say the same in different ways. */
const PAIRS = [
  ['remote-auth-bearer-token', 'remote-auth-bearer-token-file'],
  ['remote-auth-client-secret', 'remote-auth-client-secret-file'],
  ['remote-auth-client-secret', 'remote-auth-private-key-file'],
  ['remote-auth-client-secret-file', 'remote-auth-private-key-file'],
  ['remote-auth-issuer', 'remote-auth-authorize-url'],
  ['remote-auth-issuer', 'remote-auth-token-url'],
] as const

/** How a remote server is logged in to; the same for workloads and for the standalone proxy. */
export const remoteAuthFlags: RunFlags = {
  title: 'Remote server',
  of: ['run', 'proxy'],
  flags: table,
  async apply(values: FlagValues<typeof table>, config, given) {
    for (const [one, other] of PAIRS) {
      if (given.has(one) && given.has(other)) {
        throw failures.usage({
          text: `--${one} and --${other} do not go together.`,
          hint: 'Give one of them.',
        })
      }
    }
    const asked = toConfig(values, given)
    if (Object.keys(asked).length) config.remote_auth_config = { ...config.remote_auth_config, ...asked }
    const plain = values['remote-forward-headers']
    const fromSecret = values['remote-forward-headers-secret']
    if (plain.length === 0 && fromSecret.length === 0) return
    const { readHeaderFlags } = await import('./headers/header-flags.ts')
    config.header_forward = readHeaderFlags({ plain, fromSecret })
  },
}

/** The members that the flags set. */
function toConfig(values: FlagValues<typeof table>, given: ReadonlySet<string>): RemoteAuthConfig {
  const tokenFile = values['remote-auth-bearer-token-file']
  const secretFile = values['remote-auth-client-secret-file']
  const keyFile = values['remote-auth-private-key-file']
  const timeout = values['remote-auth-timeout']
  const members: { [K in keyof RemoteAuthConfig]: RemoteAuthConfig[K] | undefined } = {
    bearer_token: values['remote-auth-bearer-token'],
    bearer_token_file: tokenFile && resolve(tokenFile),
    issuer: values['remote-auth-issuer'],
    authorize_url: values['remote-auth-authorize-url'],
    token_url: values['remote-auth-token-url'],
    client_id: values['remote-auth-client-id'],
    client_secret: values['remote-auth-client-secret'],
    client_secret_file: secretFile && resolve(secretFile),
    grant_type: given.has('remote-auth-grant-type') ? values['remote-auth-grant-type'] : undefined,
    private_key_file: keyFile && resolve(keyFile),
    signing_algorithm: values['remote-auth-signing-algorithm'],
    scopes: values['remote-auth-scopes'].length ? [...values['remote-auth-scopes']] : undefined,
    scope_param_name: values['remote-auth-scope-param-name'],
    resource: values['remote-auth-resource'],
    callback_port: values['remote-auth-callback-port'],
    skip_browser: given.has('remote-auth-skip-browser') ? values['remote-auth-skip-browser'] : undefined,
    timeout: timeout === undefined ? undefined : formatDuration(timeout),
  }
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}
