import { resolve } from 'node:path'
import { type FlagOptions, type FlagValues, flag } from '../../src/cli/flags.ts'
import { failures as core } from '../../src/errors.ts'
import type { RunFlags } from '../../src/plugin.ts'
import { failures } from './failures.ts'
import type { OidcConfig } from './oidc-config.ts'

const table = {
  'oidc-issuer': flag.string('accept bearer tokens of this issuer', { placeholder: 'URL' }),
  'oidc-audience': flag.string('audience that tokens must be issued for; required with --oidc-issuer', {
    placeholder: 'AUDIENCE',
  }),
  'oidc-allow': flag.list(
    'who may call: a claim of the token with its value. Values of one claim are alternatives, and all claims that are ' +
      'named must match. Required for issuers where anybody can have an account',
    'CLAIM=VALUE',
  ),
  'oidc-jwks-url': flag.string('URL of the keys of the issuer (default: the one in its metadata)', {
    placeholder: 'URL',
  }),
  'oidc-introspection-url': flag.string('endpoint that checks tokens other than JWTs', {
    placeholder: 'URL',
  }),
  'oidc-client-id': flag.string('client ID of keelson at the introspection endpoint', { placeholder: 'ID' }),
  'oidc-client-secret': flag.string(
    'secret of that client; other users can see it in the list of processes, so a file or KEELSON_OIDC_CLIENT_SECRET is safer',
    { placeholder: 'SECRET' },
  ),
  'oidc-client-secret-file': flag.file('file with the secret of that client'),
  'oidc-scopes': flag.commaList(
    'scopes that callers are told to request and that their tokens must have, except those of OpenID Connect itself, such as openid',
    'SCOPE',
  ),
  'oidc-access-tokens-only': flag.boolean(
    'refuse JWTs that are not marked as access tokens (typ at+jwt, RFC 9068)',
  ),
  'resource-url': flag.string(
    'URL at which callers reach this server; the login is described there (RFC 9728)',
    {
      placeholder: 'URL',
    },
  ),
  'oidc-insecure-allow-http': flag.boolean('connect to the issuer over plain http; for development only'),
  'jwks-allow-private-ip': flag.boolean('allow an issuer in a private network'),
  'jwks-auth-token-file': flag.file(
    'file with a bearer token for fetching the metadata and keys of the issuer; read again each time',
  ),
}

export type OidcFlags = FlagValues<typeof table>

declare module '../../src/contracts/run-options.ts' {
  interface RunOptions extends FlagOptions<typeof table> {}
}

/** How callers log in; the same for workloads, for the standalone proxy and for the HTTP API. */
export const oidcFlags: RunFlags = {
  title: 'Login',
  of: ['run', 'serve', 'proxy'],
  flags: table,
  apply(values: OidcFlags, config) {
    const asked = readOidcFlags(values)
    if (!asked) return
    const { authTokenFile, ...oidc } = asked
    config.oidc_config = { ...config.oidc_config, ...oidc }
    if (authTokenFile) config.jwks_auth_token_file = authTokenFile
  },
}

/** Returns what the flags say of the login; undefined when none of them was given. Fails with `auth_config_invalid`. */
export function readOidcFlags(values: OidcFlags): OidcConfig | undefined {
  // An empty text counts as given: a shell variable that is not set must not turn the check off.
  for (const [name, value] of Object.entries(values)) {
    if (Object.hasOwn(table, name) && value === '') {
      throw failures.auth_config_invalid({ problem: `--${name} is empty` })
    }
  }
  const secretFile = values['oidc-client-secret-file']
  const tokenFile = values['jwks-auth-token-file']
  if (secretFile !== undefined && values['oidc-client-secret'] !== undefined) {
    throw core.usage({
      text: '--oidc-client-secret and --oidc-client-secret-file name the same secret twice.',
    })
  }
  const said: { [K in keyof OidcConfig]: OidcConfig[K] | undefined } = {
    issuer: values['oidc-issuer']?.trim(),
    audience: values['oidc-audience'],
    allow: [...values['oidc-allow']],
    jwksurl: values['oidc-jwks-url'],
    introspectionURL: values['oidc-introspection-url'],
    clientID: values['oidc-client-id'],
    clientSecret: values['oidc-client-secret'],
    clientSecretFile: secretFile && resolve(secretFile),
    scopes: [...values['oidc-scopes']],
    accessTokensOnly: values['oidc-access-tokens-only'] || undefined,
    resourceURL: values['resource-url'],
    insecureAllowHTTP: values['oidc-insecure-allow-http'] || undefined,
    allowPrivateIP: values['jwks-allow-private-ip'] || undefined,
    authTokenFile: tokenFile && resolve(tokenFile),
  }
  const given = Object.entries(said).filter(
    ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
  )
  return given.length ? Object.fromEntries(given) : undefined
}
