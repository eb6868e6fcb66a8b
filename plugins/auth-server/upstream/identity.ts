import { failures } from './failures.ts'
import { memberAt } from './member-at.ts'
import { fetchObject, type ProviderFetch } from './provider-fetch.ts'
import type { UpstreamLogin } from './upstream.ts'
import type { OAuth2Config, UserinfoConfig } from './upstream-config.ts'

/** Who logged in. */
export type Identity = Omit<UpstreamLogin, 'tokens'>

type Document = Readonly<Record<string, unknown>>

/** Longer texts are nobody's name. */
const LONGEST = 1024

/** Where to look in a document, in this order. */
interface Fields {
  readonly subject: readonly string[]
  readonly name: readonly string[]
  readonly email: readonly string[]
}

const USUAL: Fields = { subject: ['sub', 'id'], name: ['name'], email: ['email'] }

/** Fails with `upstream_login_failed` where the document does not say who logged in. */
export function readIdentity(document: Document, provider: string, fields: Fields = USUAL): Identity {
  const subject = firstText(document, fields.subject)
  if (subject === undefined) {
    const problem = `it does not say who logged in (${fields.subject.join(', ') || 'no field'})`
    throw failures.upstream_login_failed({ name: provider, problem })
  }
  // Anybody may enter the address of somebody else, until it is verified.
  const email = isUnverified(document) ? undefined : firstText(document, fields.email)
  return { subject, name: firstText(document, fields.name), email, claims: document }
}

/** Some providers write it as a text. */
const isUnverified = ({ email_verified: verified }: Document): boolean =>
  verified !== undefined && verified !== true && verified !== 'true'

/** Reads the identity out of a token response. */
export const identityOfResponse = (
  response: Document,
  paths: NonNullable<OAuth2Config['identity_from_token']>,
  provider: string,
): Identity => {
  const { claims: _, ...identity } = readIdentity(response, provider, {
    subject: listOf(paths.subject_path),
    name: listOf(paths.name_path),
    email: listOf(paths.email_path),
  })
  return { ...identity, claims: { sub: identity.subject } } // the response holds the tokens
}

/** Asks the provider who an access token belongs to (OpenID Connect Core, section 5.3; others have endpoints like it). */
export async function fetchIdentity(
  fetch: ProviderFetch,
  config: UserinfoConfig,
  request: { readonly provider: string; readonly accessToken: string; readonly signal: AbortSignal },
): Promise<Identity> {
  const { provider, accessToken, signal } = request
  const { endpoint_url: url = '', http_method: method = 'GET', additional_headers: headers } = config
  const { status, value } = await fetchObject(fetch, url, {
    name: provider,
    method: method.toUpperCase() === 'POST' ? 'POST' : 'GET',
    headers: { ...headers, authorization: `Bearer ${accessToken}` },
    signal,
  })
  if (status !== 200) {
    const problem = `its user information cannot be read (${status})`
    throw failures.upstream_login_failed({ name: provider, problem })
  }
  const { subject_fields: subject, name_fields: names, email_fields: emails } = config.field_mapping ?? {}
  return readIdentity(value, provider, {
    subject: subject?.length ? subject : USUAL.subject,
    name: names?.length ? names : USUAL.name,
    email: emails?.length ? emails : USUAL.email,
  })
}

const listOf = (path: string | undefined): readonly string[] => (path ? [path] : [])

/** The first of the fields that holds a text, or a number as some providers have for identifiers. */
function firstText(document: Document, fields: readonly string[]): string | undefined {
  for (const field of fields) {
    const value = memberAt(document, field)
    const text = Number.isSafeInteger(value) ? String(value) : value
    if (typeof text === 'string' && text.trim() !== '' && text.length <= LONGEST) return text
  }
  return undefined
}
