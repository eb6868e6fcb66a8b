import { createSingleFlight } from '../../../src/lib/single-flight.ts'
import type { OAuthEngine, TokenSet } from '../oauth/types.ts'
import { type LoginToken, timeToRenew } from './held-tokens.ts'
import type { GetToken, TokenOutcome } from './login-tokens.ts'

/** How long a refusal counts, in milliseconds: a provider locks clients that try again and again. */
const REFUSED_MS = 30_000

/** The tokens that clients get with their own credentials: in memory, and each process gets its own. */
export interface MachineTokens {
  readonly get: GetToken
  has(key: string, tokens: TokenSet): boolean
}

export function createMachineTokens(engine: OAuthEngine, now: () => number): MachineTokens {
  const held = new Map<string, LoginToken>()
  const refused = new Map<string, { outcome: TokenOutcome; until: number }>()
  const renewing = createSingleFlight<TokenOutcome>()

  const isGood = ({ accessToken, renewAt }: LoginToken, rejected: string | undefined): boolean =>
    accessToken !== rejected && (renewAt === undefined || now() < renewAt)

  /** Tokens of secrets that were replaced, among others: nobody asks for them again. */
  function forgetOld(): void {
    for (const [key, { expiresAt = Number.POSITIVE_INFINITY }] of held)
      if (expiresAt <= now()) held.delete(key)
    for (const [key, { until }] of refused) if (until <= now()) refused.delete(key)
  }

  const renew: GetToken = async ({ key, discovery, settings, reach }) => {
    const before = refused.get(key)
    if (before && before.until > now()) return before.outcome
    const { issuer } = discovery
    const client = { kind: 'given', issuer, clientId: settings.clientId ?? '', authMethod: 'none' } as const
    const result = await engine.refresh(
      { discovery, client, settings, tokens: { scopes: [] }, asMachine: true },
      reach,
    )
    refused.delete(key)
    if (result.kind === 'renewed') {
      const { expiresAt } = result.tokens
      const renewAt = expiresAt === undefined ? undefined : timeToRenew(expiresAt, now())
      const token = { ...result.tokens, renewAt }
      forgetOld()
      held.set(key, token)
      return { token }
    }
    if (result.kind === 'transient') {
      const reason = `A token cannot be got now: ${result.problem}.`
      return { problem: { status: 'auth_retrying', reason }, retryAfterMs: result.retryAfterMs }
    }
    const reason = `The provider refuses the client of the login: ${result.problem}.`
    const outcome: TokenOutcome = { problem: { status: 'unauthenticated', reason } }
    refused.set(key, { outcome, until: now() + REFUSED_MS })
    return outcome
  }

  return {
    async get(place, { rejected } = {}) {
      const known = held.get(place.key)
      if (known && isGood(known, rejected)) return { token: known }
      if (known?.accessToken === rejected) held.delete(place.key)
      return renewing.run(place.key, () => renew(place))
    },
    has: (key, tokens) => held.get(key) === tokens,
  }
}
