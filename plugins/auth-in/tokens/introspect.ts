import { hash } from 'node:crypto'
import type { Caller } from '../../../src/contracts/caller-auth.ts'
import { isFailure } from '../../../src/errors.ts'
import { createExpiringMap } from '../../../src/lib/expiring-map.ts'
import { createSingleFlight } from '../../../src/lib/single-flight.ts'
import { failures } from '../failures.ts'
import type { Answer } from './introspection-endpoints.ts'
import { LEEWAY_SECONDS } from './leeway.ts'
import { toCaller } from './to-caller.ts'

/** A token that was taken back is found out after this at the latest. */
const KEPT_MS = 30_000
const MOST_KEPT = 1000
/** What is asked beyond this at a time is refused: a provider that stalls must not block all callers. */
const MOST_PENDING = 64

/** What a token has to be for. */
interface Wanted {
  readonly issuer: string | undefined
  readonly audience: string
  readonly now: () => number
}

/**
 * Checks tokens by introspection (RFC 7662). Responses are cached for a while, never beyond `exp`, and each token has
 * at most one request at a time. Fails with `token_invalid` or `auth_unavailable`.
 *
 * It is our own code because openid-client supports only registered clients, and has no cache and no limits.
 */
export function createIntrospection(
  options: Wanted & { readonly ask: (token: string) => Promise<Answer> },
): (token: string) => Promise<Caller> {
  const { ask, now } = options
  const limits = { most: MOST_KEPT, now }
  const good = createExpiringMap<Answer>(limits)
  /** Apart from the others: a flood of invented tokens must not make good ones forgotten. */
  const bad = createExpiringMap<Answer>(limits)
  const pending = createSingleFlight<Answer>()
  const callers = new WeakMap<Answer, Caller>()

  async function find(token: string): Promise<Answer> {
    const key = hash('sha256', token, 'base64url')
    const found = good.get(key) ?? bad.get(key)
    if (found) return found
    return pending.run(key, async () => {
      if (pending.size >= MOST_PENDING) {
        throw failures.auth_unavailable({ problem: 'too many are being checked' })
      }
      const answer = await ask(token).catch(toInactive)
      const end = now() + KEPT_MS
      if (answer.active === true) good.set(key, answer, Math.min(end, endOf(answer)))
      else bad.set(key, answer, end)
      return answer
    })
  }

  return async token => {
    const answer = await find(token)
    assertMeant(answer, options)
    const caller =
      callers.get(answer) ??
      toCaller(answer, { subject: answer.sub || answer.client_id, issuer: options.issuer })
    callers.set(answer, caller)
    return caller
  }
}

/** The endpoint has said that it does not know the token, which is as good as an answer. */
function toInactive(error: unknown): Answer {
  if (isFailure(error, 'token_invalid')) return { active: false }
  throw error
}

const endOf = ({ exp }: Answer): number => (exp === undefined ? Number.POSITIVE_INFINITY : Number(exp) * 1000)

function assertMeant(answer: Answer, wanted: Wanted): void {
  const invalid = (problem: string) => failures.token_invalid({ problem })
  if (answer.active !== true) throw invalid('it is unknown, has expired or was revoked')
  const seconds = wanted.now() / 1000
  // These three are optional there (section 2.2); one that is present counts.
  if (answer.exp !== undefined && !(Number(answer.exp) + LEEWAY_SECONDS > seconds)) {
    throw invalid('it has expired')
  }
  if (answer.nbf !== undefined && !(Number(answer.nbf) - LEEWAY_SECONDS <= seconds)) {
    throw invalid('it is not valid yet')
  }
  if (wanted.issuer !== undefined && answer.iss !== undefined && answer.iss !== wanted.issuer) {
    throw invalid('its claim "iss" is not what is expected')
  }
  if (![answer.aud].flat().includes(wanted.audience)) {
    throw invalid('its claim "aud" is not what is expected')
  }
}
