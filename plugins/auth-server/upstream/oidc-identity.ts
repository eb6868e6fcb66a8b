import { failures } from './failures.ts'
import { fetchIdentity, type Identity, readIdentity } from './identity.ts'
import { fetchObject, type ProviderFetch } from './provider-fetch.ts'
import type { OidcConfig } from './upstream-config.ts'

const FIELDS = { subject: ['sub'], name: ['name'], email: ['email'] }

interface Login {
  /** The name of the provider. */
  readonly name: string
  readonly fetch: ProviderFetch
  /** What the checked ID token says. */
  readonly claims: Readonly<Record<string, unknown>> & { readonly sub: string }
  /** Where the provider has its user information, if anywhere. */
  readonly endpoint: string | undefined
  readonly accessToken: string
  readonly signal: AbortSignal
}

/** Returns who has logged in: by the ID token and, where it lacks a name or address, the user information. */
export async function identify(config: OidcConfig, login: Login): Promise<Identity> {
  const { name, fetch, claims, endpoint, accessToken, signal } = login
  const { userinfo_override: userinfo, subject_claim: subjectClaim } = config
  const subject = [subjectClaim || 'sub']
  if (userinfo) {
    const found = await fetchIdentity(fetch, userinfo, { provider: name, accessToken, signal })
    return subjectClaim
      ? { ...found, subject: readIdentity(claims, name, { ...FIELDS, subject }).subject }
      : found
  }
  const isWhole = claims.name !== undefined && claims.email !== undefined
  const more = isWhole || endpoint === undefined ? {} : await userinfoOf(endpoint, login)
  return readIdentity({ ...more, ...claims }, name, { ...FIELDS, subject })
}

/** OpenID Connect Core, section 5.3. Tokens for an API may not be good there: then the ID token has to do. */
async function userinfoOf(
  endpoint: string,
  { name, fetch, claims, accessToken, signal }: Login,
): Promise<Readonly<Record<string, unknown>>> {
  const headers = { authorization: `Bearer ${accessToken}` }
  const { status, value } = await fetchObject(fetch, endpoint, { name, headers, signal })
  if (status !== 200) return {}
  if (value.sub === claims.sub) return value
  throw failures.upstream_login_failed({ name, problem: 'its user information is that of somebody else' })
}
