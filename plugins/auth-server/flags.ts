import { resolve } from 'node:path'
import { type FlagOptions, type FlagValues, flag } from '../../src/cli/flags.ts'
import { failures } from '../../src/errors.ts'
import type { RunFlags } from '../../src/plugin.ts'
import type { AuthServerConfig } from './section.ts'

const table = {
  'auth-server-upstream': flag.string(
    'require a login: clients register with a built-in authorization server, and people log in at this OpenID provider',
    { placeholder: 'ISSUER_URL' },
  ),
  'auth-server-config': flag.file(
    'JSON or YAML file that describes this login in full, with the members of embedded_auth_server_config: providers ' +
      'without OpenID Connect (such as GitHub), several providers, keys, lifespans, Redis',
  ),
  'auth-server-client-id': flag.string('client ID of keelson at the provider', { placeholder: 'ID' }),
  'auth-server-client-secret-file': flag.file('file with the secret of that client, if it has one'),
  'auth-server-allow': flag.list(
    'who may log in: a claim of the provider with its value. Values of one claim are alternatives, and all claims ' +
      'that are named must match. Required for providers where anybody can have an account',
    'CLAIM=VALUE',
  ),
  'auth-server-issuer': flag.string(
    'URL at which clients and people reach the proxy, if it is not its own address',
    { placeholder: 'URL' },
  ),
  'auth-server-storage': flag.choice(
    'where logins are kept: in memory until the proxy stops, or in an SQLite file',
    ['memory', 'sqlite'],
    'memory',
  ),
  'auth-server-allow-private-ip': flag.boolean('allow a provider in a private network'),
}

export type AuthServerFlags = FlagValues<typeof table>

const credentialTable = {
  'auth-server-credential': flag.list(
    'confirm what the authorization server of --from-config may send where that file says: the content of this file or ' +
      'environment variable, or the tokens of the provider with this URL',
    'SOURCE',
  ),
}

declare module '../../src/contracts/run-options.ts' {
  interface RunOptions extends FlagOptions<typeof table>, FlagOptions<typeof credentialTable> {}
}

/** Confirms what the file of `--from-config` names; flags name such files themselves. */
export const credentialFlags: RunFlags = {
  title: 'Login with the built-in authorization server',
  of: ['run'],
  flags: credentialTable,
  apply(_values, _config, given) {
    if (!given.has('auth-server-credential')) return
    throw failures.usage({
      text: '--auth-server-credential does not go with other flags than --from-config: it confirms what that file names.',
    })
  },
}

/** An authorization server in front of a workload, or of the management API. */
export const authServerFlags: RunFlags = {
  title: 'Login with the built-in authorization server',
  of: ['run', 'serve', 'proxy'],
  flags: table,
  async apply(values: AuthServerFlags, config, given) {
    const asked = await readAuthServerFlags(values, given)
    if (asked) config.embedded_auth_server_config = asked
  },
}

/**
 * Returns what the flags say; undefined when none of them was given. A login that was half asked for is not left out:
 * the check of the section refuses it. Fails with `usage`, and as `readConfigFile`.
 */
export async function readAuthServerFlags(
  values: AuthServerFlags,
  given: ReadonlySet<string>,
): Promise<AuthServerConfig | undefined> {
  const named = Object.keys(table).filter(name => given.has(name))
  if (named.length === 0) return undefined
  const { 'auth-server-config': file } = values
  if (file === undefined) return fromFlags(values)
  const other = named.find(name => name !== 'auth-server-config')
  if (other === undefined) return (await import('./config-file.ts')).readConfigFile(file)
  throw failures.usage({
    text: `--${other} does not go with --auth-server-config: that file says everything about the login.`,
  })
}

function fromFlags(values: AuthServerFlags): AuthServerConfig {
  const { 'auth-server-upstream': upstream, 'auth-server-issuer': issuer } = values
  const { 'auth-server-client-secret-file': secretFile, 'auth-server-allow': allow = [] } = values
  const client = {
    client_id: values['auth-server-client-id'] ?? '',
    ...(secretFile ? { client_secret_file: resolve(secretFile) } : {}),
    ...(values['auth-server-allow-private-ip'] ? { allow_private_ips: true } : {}),
  }
  return {
    ...(issuer ? { issuer } : {}),
    ...(allow.length ? { allowed_logins: [...allow] } : {}),
    storage: { type: values['auth-server-storage'] },
    upstreams: upstream
      ? [{ name: 'default', type: 'oidc', oidc_config: { issuer_url: upstream, ...client } }]
      : [],
  }
}
