import type { RunConfig } from '../../src/contracts/run-config.ts'
import { unenforcedFailures } from '../../src/contracts/unenforced-failures.ts'
import { failures } from '../../src/errors.ts'
import { assertSentBefore, wholeMember } from '../../src/http/section-request.ts'
import { isEmpty } from '../../src/lib/is-empty.ts'
import { bool, nullable, type ObjectOf, object, oneOf, optional, text, texts } from '../../src/lib/schema.ts'
import type { Section } from '../../src/plugin.ts'
import { assertHeaderName } from '../auth-out/index.ts'
import { assertEndpoint } from './assert-endpoint.ts'
import { toTokenType } from './token-types.ts'

/** The client at the authorization server of the target, where it is asked for tokens with an ID-JAG. */
const identityAssertion = {
  client_id: optional(text),
  /** Name of a secret of the user's. */
  client_secret_name: optional(text),
  /** Token endpoint; without it, what the metadata of `audience` says. */
  token_url: optional(text),
}

const tokenExchange = {
  /** The token endpoint that exchanges tokens (RFC 8693). */
  token_url: optional(text),
  client_id: optional(text),
  /** In a saved run config it is a reference, `NAME,target=token_exchange_secret`. */
  client_secret: optional(text),
  /** Path of a file with the secret; read when the workload starts. Ours. */
  client_secret_file: optional(text),
  audience: optional(text),
  /** RFC 8707. Ours. */
  resource: optional(text),
  scopes: optional(nullable(texts)),
  subject_token_type: optional(text),
  header_strategy: optional(oneOf(['replace', 'custom', ''])),
  external_token_header_name: optional(text),
  /** Path of a file with the token of the actor (RFC 8693, section 1.1); read again for each exchange. Ours. */
  actor_token_file: optional(text),
  actor_token_type: optional(text),
  /** The actor is the client itself, with a token of its own client credentials. Ours. */
  actor_is_client: optional(bool),
  /** The exchange gives an ID-JAG, which the authorization server of the target gives a token for. Ours. */
  identity_assertion: optional(object(identityAssertion)),
}

const members = { token_exchange_config: optional(nullable(object(tokenExchange))) }

declare module '../../src/contracts/run-config.ts' {
  interface RunConfig extends ObjectOf<typeof members> {}
}

export type TokenExchangeConfig = NonNullable<RunConfig['token_exchange_config']>

/** What the run config says of an exchange; undefined where it says nothing. */
export const exchangeOf = ({ token_exchange_config: said }: RunConfig): TokenExchangeConfig | undefined =>
  said && !isEmpty(said) ? said : undefined

/** Checks the members that say how tokens are exchanged. */
export const tokenExchangeSection: Section = {
  members,
  request: wholeMember('token_exchange_config', { schema: object(tokenExchange), check: assertFiles }),
  middlewareEntries: [
    {
      type: 'tokenexchange',
      parameter: 'token_exchange_config',
      member: 'token_exchange_config',
      defaults: { header_strategy: 'replace' },
    },
  ],
  actsForCallers: config => exchangeOf(config) !== undefined,
  check(config) {
    const exchange = exchangeOf(config)
    if (!exchange) return
    assertKnown(exchange)
    assertEndpoint('token_url', exchange.token_url)
    assertClient(exchange)
    assertHeader(exchange, config)
    assertActor(exchange)
    assertIdentityAssertion(exchange)
    toTokenType(exchange.subject_token_type, 'access_token')
    if (config.transport === 'stdio') {
      throw wrong('An exchange of tokens is for servers that speak HTTP: a stdio server gets no headers.')
    }
  },
}

function assertFiles(asked: TokenExchangeConfig, before: RunConfig['token_exchange_config']): void {
  for (const member of ['client_secret_file', 'actor_token_file'] as const) {
    assertSentBefore(
      { path: asked[member], receiver: asked.token_url },
      { path: before?.[member], receiver: before?.token_url },
    )
  }
}

const wrong = (text: string) => failures.usage({ text })

function assertKnown(exchange: TokenExchangeConfig): void {
  const others = [
    ...unknownOf(exchange, tokenExchange, 'token_exchange_config'),
    ...unknownOf(
      exchange.identity_assertion ?? {},
      identityAssertion,
      'token_exchange_config.identity_assertion',
    ),
  ]
  if (others.length === 0) return
  throw unenforcedFailures.section_unenforced({
    members: others.map(name => `${name} (an exchange of tokens)`),
  })
}

const unknownOf = (said: object, known: object, path: string): string[] =>
  Object.entries(said)
    .filter(([name, value]) => !Object.hasOwn(known, name) && !isEmpty(value))
    .map(([name]) => `${path}.${name}`)

function assertClient({ client_id, client_secret, client_secret_file }: TokenExchangeConfig): void {
  if (client_secret && client_secret_file) {
    throw wrong('client_secret and client_secret_file of token_exchange_config do not go together.')
  }
  if ((client_secret || client_secret_file) && !client_id) {
    throw failures.usage({
      text: 'The client secret of an exchange of tokens needs a client ID.',
      hint: 'Give --token-exchange-client-id.',
    })
  }
}

function assertHeader(exchange: TokenExchangeConfig, { header_forward: headers }: RunConfig): void {
  const { header_strategy: strategy, external_token_header_name: name } = exchange
  if (strategy === 'custom' && !name) {
    throw wrong('header_strategy custom of token_exchange_config needs external_token_header_name.')
  }
  if (strategy !== 'custom' && name) {
    throw wrong('external_token_header_name of token_exchange_config needs header_strategy custom.')
  }
  if (name) assertHeaderName(name)
  const sent = (name || 'authorization').toLowerCase()
  const forwarded = { ...headers?.add_plaintext_headers, ...headers?.add_headers_from_secret }
  if (Object.keys(forwarded).some(other => other.toLowerCase() === sent)) {
    throw wrong(`The forwarded header ${sent} and the exchanged token are the same header.`)
  }
}

function assertActor({
  actor_token_file,
  actor_token_type,
  actor_is_client,
  client_id,
}: TokenExchangeConfig): void {
  if (actor_token_file && actor_is_client) {
    throw wrong('actor_token_file and actor_is_client of token_exchange_config do not go together.')
  }
  if (actor_is_client && !client_id)
    throw wrong('actor_is_client of token_exchange_config needs a client_id.')
  if (actor_token_type && !actor_token_file) {
    throw wrong('actor_token_type of token_exchange_config needs actor_token_file.')
  }
  toTokenType(actor_token_type, 'access_token')
}

function assertIdentityAssertion({ identity_assertion: assertion, ...exchange }: TokenExchangeConfig): void {
  if (!assertion) return
  if (!exchange.audience) {
    throw wrong(
      'identity_assertion of token_exchange_config needs audience: the issuer of the target’s tokens.',
    )
  }
  if (exchange.actor_token_file || exchange.actor_is_client) {
    throw wrong('identity_assertion of token_exchange_config has no actor.')
  }
  assertEndpoint(
    assertion.token_url ? 'identity_assertion.token_url' : 'audience',
    assertion.token_url || exchange.audience,
  )
}
