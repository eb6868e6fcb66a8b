import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { createSingleFlight } from '../../../src/lib/single-flight.ts'
import { FetchProblem } from '../../../src/net/fetch-problem.ts'
import { guardedFetch } from '../../../src/net/guarded-fetch.ts'
import { readUserFile } from '../../../src/user-file.ts'
import { createAdmit } from '../grants/admission.ts'
import { OAuthError } from '../protocol/oauth-error.ts'
import type { AuthServerConfig } from '../section.ts'
import type { TrustedIssuer } from './assertion-grant.ts'

type Configured = NonNullable<AuthServerConfig['trusted_issuers']>[number]

const KEPT_MS = 10 * 60_000
/** A key that is not known makes the keys be read again, but not more often than this. */
const AGAIN_MS = 30_000
const TIMEOUT_MS = 5000
const MAX_BYTES = 256 * 1024

/**
 * Finds the keys of an issuer at its URL or in its file. They are read when the first assertion comes. `allowedLogins`:
 * who may log in where the issuer has no rules of its own.
 */
export function openTrustedIssuer(
  configured: Configured,
  { allowedLogins, now }: { allowedLogins: readonly string[]; now: () => number },
): TrustedIssuer {
  const flight = createSingleFlight<JWTVerifyGetKey>()
  let known: { readonly find: JWTVerifyGetKey; readonly at: number } | undefined

  const load = () =>
    flight.run('', async () => {
      const find = createLocalJWKSet(parse(await read(configured)))
      known = { find, at: now() }
      return find
    })

  return {
    issuer: configured.issuer,
    admit: createAdmit(configured.allowed_logins ?? allowedLogins),
    async keys(header, token) {
      const current = known && now() - known.at < KEPT_MS ? known : undefined
      const find = current?.find ?? (await load())
      try {
        return await find(header, token)
      } catch (error) {
        const isNew = error instanceof errors.JWKSNoMatchingKey && current && now() - current.at > AGAIN_MS
        if (!isNew) throw error
        return (await load())(header, token)
      }
    },
  }
}

const unavailable = () =>
  new OAuthError('temporarily_unavailable', 'The keys of the issuer cannot be read now.', { status: 503 })

async function read({ jwks_url: url, jwks_file: file }: Configured): Promise<string> {
  if (file) return readUserFile(file, 'The jwks_file of a trusted issuer')
  try {
    const limits = { timeoutMs: TIMEOUT_MS, stepTimeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, maxRedirects: 0 }
    const { status, body } = await guardedFetch(url ?? '', limits)
    if (status === 200) return body.toString('utf8')
  } catch (error) {
    if (!(error instanceof FetchProblem)) throw error
  }
  throw unavailable()
}

function parse(text: string): JSONWebKeySet {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && 'keys' in value && Array.isArray(value.keys)) {
      return value as JSONWebKeySet
    }
  } catch {
    // below
  }
  throw unavailable()
}
