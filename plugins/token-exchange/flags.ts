import { resolve } from 'node:path'
import { type FlagOptions, type FlagValues, flag } from '../../src/cli/flags.ts'
import { failures } from '../../src/errors.ts'
import type { RunFlags } from '../../src/plugin.ts'
import type { TokenExchangeConfig } from './section.ts'

const table = {
  'token-exchange-url': flag.string(
    'token endpoint that exchanges the token of the caller, or of the remote login, for a token for the server (RFC 8693)',
    { placeholder: 'URL' },
  ),
  'token-exchange-audience': flag.string('audience of the exchanged tokens'),
  'token-exchange-scopes': flag.commaList('scopes of the exchanged tokens', 'SCOPE'),
  'token-exchange-client-id': flag.string('client ID at the token endpoint', { placeholder: 'ID' }),
  'token-exchange-client-secret': flag.string(
    'secret of that client; other users can see it in the list of processes, so a file or KEELSON_TOKEN_EXCHANGE_CLIENT_SECRET is safer',
    { placeholder: 'SECRET' },
  ),
  'token-exchange-client-secret-file': flag.file('file with the secret of that client'),
  'token-exchange-header-name': flag.string('header that gets the exchanged token', {
    placeholder: 'NAME',
    shown: 'Authorization',
  }),
  'token-exchange-subject-token-type': flag.string(
    'type of the token to exchange: access_token, id_token or jwt, or its URN',
    { placeholder: 'TYPE', shown: 'access_token' },
  ),
  'token-exchange-actor-token-file': flag.file(
    'file with the token of the actor, who acts for the caller; read again for each exchange',
  ),
}

declare module '../../src/contracts/run-options.ts' {
  interface RunOptions extends FlagOptions<typeof table> {}
}

/** How tokens are exchanged for the server; the same for workloads and for the standalone proxy. */
export const tokenExchangeFlags: RunFlags = {
  title: 'Token exchange',
  of: ['run', 'proxy'],
  flags: table,
  apply(values: FlagValues<typeof table>, config, given) {
    if (!Object.keys(table).some(name => given.has(name))) return
    if (given.has('token-exchange-client-secret') && given.has('token-exchange-client-secret-file')) {
      throw failures.usage({
        text: '--token-exchange-client-secret and --token-exchange-client-secret-file do not go together.',
        hint: 'Give one of them.',
      })
    }
    config.token_exchange_config = toConfig(values)
  },
}

/** The members that the flags set. */
function toConfig(values: FlagValues<typeof table>): TokenExchangeConfig {
  const secretFile = values['token-exchange-client-secret-file']
  const actorFile = values['token-exchange-actor-token-file']
  const header = values['token-exchange-header-name']
  const scopes = values['token-exchange-scopes']
  const members: { [K in keyof TokenExchangeConfig]: TokenExchangeConfig[K] | undefined } = {
    token_url: values['token-exchange-url'],
    client_id: values['token-exchange-client-id'],
    client_secret: values['token-exchange-client-secret'],
    client_secret_file: secretFile && resolve(secretFile),
    audience: values['token-exchange-audience'],
    scopes: scopes.length ? [...scopes] : undefined,
    subject_token_type: values['token-exchange-subject-token-type'],
    header_strategy: header === undefined ? undefined : 'custom',
    external_token_header_name: header,
    actor_token_file: actorFile && resolve(actorFile),
  }
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}
