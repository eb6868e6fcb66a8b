import { messageOf } from '../../src/errors.ts'
import type { Outcome } from '../../src/lib/kept-outcomes.ts'
import { createActorTokens } from './actor-tokens.ts'
import { type ExchangeProblem, toAssertionProblem, toExchangeProblem } from './exchange-problem.ts'
import type { ExchangeSettings } from './exchange-settings.ts'
import { type IssuedToken, readExchanged, readToken } from './read-issued.ts'
import { requestToken } from './request-token.ts'
import { ID_JAG, TOKEN_TYPES } from './token-types.ts'

/** Exchanges the token of a subject for one that the server accepts. Never throws for what others do. */
export type TokenExchange = (subject: string) => Promise<Outcome<ExchangedToken, ExchangeProblem>>

export interface ExchangedToken {
  readonly token: string
  /** Milliseconds since 1970. */
  readonly issuedAt: number
}

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/** How long before its end a token is replaced, in milliseconds. */
const MARGIN_MS = 30_000
/** How long a token counts whose life nobody knows, and at most, in milliseconds. */
const UNKNOWN_LIFE_MS = 60_000
const LONGEST_LIFE_MS = 24 * 3600_000
/** How long a refusal counts, in milliseconds: tokens that are refused must not flood the provider. */
const REFUSED_MS = 10_000
/** The same for a provider that is away. */
const AWAY_MS = 2000
const LONGEST_AWAY_MS = 60_000

/** Makes the exchange (RFC 8693; with an ID-JAG also RFC 7523). */
export function createExchange(
  settings: ExchangeSettings,
  { now = Date.now }: { now?: () => number } = {},
): TokenExchange {
  const actors = createActorTokens(settings, now)

  async function exchange(subject: string): Promise<IssuedToken | ExchangeProblem> {
    const { endpoint, assertionEndpoint, subjectType, audience, resource, scope } = settings
    const actor = await actors?.()
    if (actor && 'kind' in actor) return actor
    const response = await requestToken(endpoint, {
      grant_type: EXCHANGE,
      subject_token: subject,
      subject_token_type: subjectType,
      requested_token_type: assertionEndpoint ? ID_JAG : TOKEN_TYPES.access_token,
      actor_token: actor?.token,
      actor_token_type: actor?.type,
      audience,
      resource,
      scope,
    })
    if (response.kind !== 'issued') return toExchangeProblem(response)
    const issued = readExchanged(response.values, assertionEndpoint ? 'id-jag' : 'access_token')
    if ('problem' in issued) return { kind: 'broken', problem: issued.problem }
    return assertionEndpoint ? redeem(issued.token) : issued
  }

  /** Gets a token of the target's authorization server with an ID-JAG (RFC 7523, section 2.1). */
  async function redeem(assertion: string): Promise<IssuedToken | ExchangeProblem> {
    const { assertionEndpoint, scope } = settings
    if (!assertionEndpoint) throw new Error('there is no place to show an ID-JAG to')
    const endpoint = await assertionEndpoint().catch(error => ({ problem: messageOf(error) }))
    if ('problem' in endpoint) return { kind: 'away', problem: endpoint.problem }
    const response = await requestToken(endpoint, { grant_type: JWT_BEARER, assertion, scope })
    if (response.kind !== 'issued') return toAssertionProblem(response)
    const issued = readToken(response.values)
    return 'problem' in issued ? { kind: 'broken', problem: issued.problem } : issued
  }

  return async subject => {
    const asked = now() // the life of a token begins before its response is there
    const result = await exchange(subject)
    return 'token' in result
      ? { value: { token: result.token, issuedAt: asked }, until: asked + countsFor(result) }
      : { problem: result, until: now() + problemCountsFor(result) }
  }
}

/** How long a token is used, in milliseconds. Of a very short life at least half is. */
export function countsFor({ seconds }: IssuedToken): number {
  if (seconds === undefined) return UNKNOWN_LIFE_MS
  const life = Math.min(seconds * 1000, LONGEST_LIFE_MS)
  return Math.max(life - MARGIN_MS, life / 2)
}

function problemCountsFor(problem: ExchangeProblem): number {
  if (problem.kind !== 'away') return REFUSED_MS
  return Math.min((problem.retrySeconds ?? 0) * 1000 || AWAY_MS, LONGEST_AWAY_MS)
}
