import { resolve } from 'node:path'
import type { App } from '../../src/app.ts'
import type { Preparation } from '../../src/contracts/preparation.ts'
import type { RunOptions } from '../../src/contracts/run-options.ts'
import { assertToken } from './assert-token.ts'
import { clientSecretIn } from './client-secret.ts'
import { readExchangeSettings } from './exchange-settings.ts'
import { failures } from './failures.ts'
import { exchangeOf, type TokenExchangeConfig } from './section.ts'

const VARIABLE = 'KEELSON_TOKEN_EXCHANGE_CLIENT_SECRET'

/** Completes what a run config says of an exchange of tokens, and takes a plain client secret out of it. */
export const tokenExchangePreparation = (app: App): Preparation => ({
  async complete(config, { options, typed, foreground }) {
    const exchange = exchangeOf(config)
    if (!exchange) return config
    // A login that only the flag asks for may not be in the run config yet.
    if (options['remote-auth'] !== true) assertToken(config)
    if (options['token-exchange-client-secret'] !== undefined) {
      app.log.warn(
        '--token-exchange-client-secret can be read by everybody on this machine: put it into a file.',
      )
    }
    const confirmed = confirm(exchange, options)
    const isTyped = options['from-config'] === undefined && (typed || foreground)
    const secret = isTyped && isOpen(confirmed) ? app.env[VARIABLE] : undefined
    const completed = secret ? { ...confirmed, client_secret: secret } : confirmed
    await readExchangeSettings(app, config, completed) // fails now where something is missing
    return { ...config, token_exchange_config: completed }
  },
  conceal: config => clientSecretIn(app).conceal(config),
  reveal: config => clientSecretIn(app).reveal(config),
})

const isOpen = ({ client_id, client_secret, client_secret_file }: TokenExchangeConfig): boolean =>
  Boolean(client_id) && !client_secret && !client_secret_file

/**
 * A run config of a file may be a stranger's. The endpoint that it names gets the tokens of all callers, and the content
 * of files: the person has to name them, too. Fails with `exchange_unconfirmed`.
 */
function confirm(exchange: TokenExchangeConfig, options: RunOptions): TokenExchangeConfig {
  if (options['from-config'] === undefined) return exchange
  const url = exchange.token_url ?? ''
  if (options['token-exchange-url'] !== url) {
    throw failures.exchange_unconfirmed({
      what: 'the tokens of callers',
      flag: 'token-exchange-url',
      value: url,
    })
  }
  confirmSecret(exchange, options)
  const confirmed: TokenExchangeConfig = {}
  for (const [member, flag] of FILES) {
    const [named, typed] = [exchange[member], options[flag]]
    if (named && !typed) {
      throw failures.exchange_unconfirmed({ what: `the content of ${named}`, flag, value: named })
    }
    if (typed) confirmed[member] = resolve(typed)
  }
  return { ...exchange, ...confirmed }
}

/** A secret of the person's, which the authorization server of the target would get. */
function confirmSecret(
  { audience, identity_assertion: assertion }: TokenExchangeConfig,
  options: RunOptions,
): void {
  const { client_secret_name: secret, token_url: url } = assertion ?? {}
  const value = url || audience || ''
  if (!secret || options['token-exchange-audience'] === value) return
  throw failures.exchange_unconfirmed({
    what: `the secret ${secret}`,
    flag: 'token-exchange-audience',
    value,
  })
}

const FILES = [
  ['client_secret_file', 'token-exchange-client-secret-file'],
  ['actor_token_file', 'token-exchange-actor-token-file'],
] as const
