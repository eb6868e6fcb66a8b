import type { App } from '../../src/app.ts'
import { readCaBundle } from '../../src/ca-bundle.ts'
import { type FlagGroup, type FlagTable, type FlagValues, flag } from '../../src/cli/flags.ts'
import type { CallerAuthConfig } from '../../src/contracts/caller-auth.ts'
import { failures as core } from '../../src/errors.ts'
import { readUserFile } from '../../src/user-file.ts'

const table = {
  'oidc-issuer': flag.string('take bearer tokens of this issuer', { placeholder: 'URL' }),
  'oidc-audience': flag.string('audience that tokens must be issued for; required', {
    placeholder: 'AUDIENCE',
  }),
  'oidc-allow': flag.list(
    'who may call, as a claim of the token and its value; values of one claim are alternatives, ' +
      'and all named claims must match; required for issuers where anybody can have an account',
    'CLAIM=VALUE',
  ),
  'oidc-jwks-url': flag.string('where the keys of the issuer are; without it the issuer is asked', {
    placeholder: 'URL',
  }),
  'oidc-introspection-url': flag.string('endpoint that checks tokens other than JWTs', {
    placeholder: 'URL',
  }),
  'oidc-client-id': flag.string('client that we are at the introspection endpoint', { placeholder: 'ID' }),
  'oidc-client-secret': flag.string(
    'its secret; better in a file or in KEELSON_OIDC_CLIENT_SECRET: everybody here can read arguments',
    { placeholder: 'SECRET' },
  ),
  'oidc-client-secret-file': flag.file('file with its secret'),
  'oidc-scopes': flag.commaList('scopes that callers are told to ask for', 'SCOPE'),
  'resource-url': flag.string('URL that callers know us by; the login is described there (RFC 9728)', {
    placeholder: 'URL',
  }),
  'oidc-insecure-allow-http': flag.boolean('ask the issuer over plain http; for development only'),
  'jwks-allow-private-ip': flag.boolean('the issuer may be in a private network'),
}

/** How callers log in. */
export const oidcFlags: FlagGroup<typeof table> = { title: 'Login', of: ['serve', 'proxy'], flags: table }

/** Returns the configuration that the flags name, with its secrets; undefined when no login is required. */
export async function toAuthConfig(
  app: App,
  given: FlagValues<FlagTable>,
): Promise<CallerAuthConfig | undefined> {
  const values = given as FlagValues<typeof table>
  const config: CallerAuthConfig = {
    issuer: values['oidc-issuer']?.trim(),
    audience: values['oidc-audience'],
    allow: values['oidc-allow'],
    jwksUrl: values['oidc-jwks-url'],
    introspectionUrl: values['oidc-introspection-url'],
    clientId: values['oidc-client-id'],
    clientSecret: await secretOf(app, values),
    scopes: values['oidc-scopes'],
    resourceUrl: values['resource-url'],
    allowHttp: values['oidc-insecure-allow-http'],
    allowPrivateIp: values['jwks-allow-private-ip'],
  }
  if (!Object.values(config).some(isSaid)) return undefined
  const { 'svc-ca-bundle': bundle } = given // of the proxy, which trusts it at the target as well
  return { ...config, ca: await readCaBundle(typeof bundle === 'string' ? bundle : undefined) }
}

/** An empty text counts as given: a shell variable that is not set must not turn the check off. */
const isSaid = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false

async function secretOf(app: App, values: FlagValues<typeof table>): Promise<string | undefined> {
  const file = values['oidc-client-secret-file']
  const typed = values['oidc-client-secret']
  if (file !== undefined && typed !== undefined) {
    throw core.usage({
      text: '--oidc-client-secret and --oidc-client-secret-file name the same secret twice.',
    })
  }
  if (file !== undefined) return (await readUserFile(file, 'The --oidc-client-secret-file')).trim()
  if (typed !== undefined) {
    app.log.warn('--oidc-client-secret can be read by everybody on this machine: put it into a file.')
    return typed
  }
  return values['oidc-client-id'] ? app.env.KEELSON_OIDC_CLIENT_SECRET : undefined
}
