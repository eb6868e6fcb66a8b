import { createHash } from 'node:crypto'
import type { Caller } from '../../src/contracts/caller-auth.ts'
import { createSingleFlight } from '../../src/lib/single-flight.ts'
import { failures } from './failures.ts'
import type { FetchDocument } from './fetch-document.ts'

/** A token that was taken back is found out after this at the latest. */
const KEPT_MS = 30_000
const MOST_KEPT = 1000
/** What is asked beyond this at a time is refused: a provider that stalls must not block all callers. */
const MOST_PENDING = 64

/**
 * Checks tokens by introspection (RFC 7662). Responses are cached for a while, and each token has at most
 * one request at a time. Fails with `token_invalid` or `auth_unavailable`.
 *
 * It is our own code because openid-client supports only registered clients, and has no cache and no limits.
 */
export function createIntrospection(options: {
  url: string
  clientId: string | undefined
  clientSecret: string | undefined
  issuer: string | undefined
  audience: string
  fetchDocument: FetchDocument
  now: () => number
}): (token: string) => Promise<Caller> {
  const { url, clientId, clientSecret, fetchDocument, now } = options
  const kept = new Map<string, { readonly answer: Answer; readonly until: number }>()
  const pending = createSingleFlight<Answer>()

  async function ask(token: string): Promise<Answer> {
    if (pending.size >= MOST_PENDING)
      throw failures.auth_unavailable({ problem: 'too many are being checked' })
    return fetchDocument(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(clientId && clientSecret ? { authorization: basic(clientId, clientSecret) } : {}),
      },
      body: new URLSearchParams({
        token,
        token_type_hint: 'access_token',
        ...(clientId && !clientSecret ? { client_id: clientId } : {}),
      }).toString(),
    })
  }

  async function find(token: string): Promise<Answer> {
    const key = createHash('sha256').update(token).digest('base64url')
    const found = kept.get(key)
    if (found && now() < found.until) return found.answer
    return pending.run(key, async () => {
      const answer = await ask(token)
      keep(key, answer)
      return answer
    })
  }

  function keep(key: string, answer: Answer): void {
    kept.delete(key)
    kept.set(key, { answer, until: now() + KEPT_MS })
    const [oldest] = kept.keys()
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest)
  }

  return async token => toCaller(await find(token), options)
}

type Answer = Readonly<Record<string, unknown>>

function toCaller(
  answer: Answer,
  wanted: { issuer: string | undefined; audience: string; now: () => number },
): Caller {
  const invalid = (problem: string) => failures.token_invalid({ problem })
  if (answer.active !== true) throw invalid('it is unknown, has expired or was taken back')
  const seconds = wanted.now() / 1000
  // These three are optional there (section 2.2); one that is present counts.
  if (answer.exp !== undefined && !(Number(answer.exp) > seconds)) throw invalid('it has expired')
  if (answer.nbf !== undefined && !(Number(answer.nbf) <= seconds)) throw invalid('it is not valid yet')
  if (wanted.issuer !== undefined && answer.iss !== undefined && answer.iss !== wanted.issuer) {
    throw invalid('its claim "iss" is not what is expected')
  }
  if (![answer.aud].flat().includes(wanted.audience)) {
    throw invalid('its claim "aud" is not what is expected')
  }
  const subject = answer.sub || answer.client_id
  if (typeof subject !== 'string') throw invalid('it says nothing of whom it is for (sub)')
  return { subject, claims: answer }
}

/** RFC 6749, section 2.3.1: both parts are encoded as in forms first. */
const basic = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${formEncode(id)}:${formEncode(secret)}`).toString('base64')}`

const formEncode = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)
