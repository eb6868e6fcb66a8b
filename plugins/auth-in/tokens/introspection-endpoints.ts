import type { FetchDocument } from './fetch-document.ts'

/** What an endpoint says of a token, with the names of RFC 7662, section 2.2. */
export type Answer = Readonly<Record<string, unknown>>

/** Asks about one token. Fails with `token_invalid` or `auth_unavailable`. */
type Ask = (token: string) => Promise<Answer>

/** Where the providers are whose endpoints do not follow RFC 7662. */
export interface ProviderPlaces {
  /** The URL of Google's endpoint. */
  readonly google: string
  /** The origin of GitHub's API. */
  readonly github: string
}

export const PROVIDERS: ProviderPlaces = {
  google: 'https://oauth2.googleapis.com/tokeninfo',
  github: 'https://api.github.com',
}

interface Endpoint {
  readonly url: string
  readonly clientId: string | undefined
  readonly clientSecret: string | undefined
  readonly fetchDocument: FetchDocument
  readonly places: ProviderPlaces
}

/** Returns how the endpoint of a URL is asked. */
export function chooseEndpoint(endpoint: Endpoint): Ask {
  const { url, places } = endpoint
  if (url === places.google) return token => askGoogle(endpoint, token)
  if (isGitHub(url, places.github)) return token => askGitHub(endpoint, token)
  return token => askStandard(endpoint, token)
}

/** Whether the URL is that of the tokens of a GitHub application, which are only shown to the application. */
export const isGitHub = (url: string, origin: string): boolean =>
  url.startsWith(`${origin}/applications/`) && /\/applications\/[^/?]+\/token$/.test(url)

/** RFC 7662, section 2.1. */
const askStandard = ({ url, clientId, clientSecret, fetchDocument }: Endpoint, token: string) =>
  fetchDocument(url, {
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

/** Google names no issuer, and writes numbers as texts. A token that it does not know gets 400. */
async function askGoogle({ url, fetchDocument }: Endpoint, token: string): Promise<Answer> {
  const query = new URLSearchParams({ access_token: token })
  const { error, ...answer } = await fetchDocument(`${url}?${query}`, { invalidAt: [400] })
  if (error !== undefined || answer.exp === undefined) return { active: false }
  return { ...answer, active: true, iss: 'https://accounts.google.com', exp: Number(answer.exp) }
}

/** GitHub's tokens are for the whole of GitHub, and most never expire. One that it does not know gets 404. */
async function askGitHub(
  { url, clientId, clientSecret, fetchDocument }: Endpoint,
  token: string,
): Promise<Answer> {
  const {
    user,
    app,
    scopes,
    expires_at: end,
  } = await fetchDocument(url, {
    method: 'POST',
    headers: {
      accept: 'application/vnd.github+json',
      'content-type': 'application/json',
      'user-agent': 'keelson',
      authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
    },
    body: JSON.stringify({ access_token: token }),
    invalidAt: [404, 422],
  })
  const { id, login, email, name } = toObject(user)
  if (!Number.isSafeInteger(id) || toObject(app).client_id !== clientId) return { active: false }
  const exp = typeof end === 'string' ? Date.parse(end) / 1000 : undefined
  const said = {
    ...{ sub: String(id), login, email, name, exp },
    scope: Array.isArray(scopes) ? scopes.join(' ') : undefined,
  }
  const known = Object.entries(said).filter(([, value]) => value !== undefined && value !== null)
  const github = 'https://github.com'
  return { active: true, iss: github, aud: github, ...Object.fromEntries(known) }
}

const toObject = (value: unknown): Answer => (typeof value === 'object' && value !== null ? { ...value } : {})

/** RFC 6749, section 2.3.1: both parts are encoded as in forms first. */
const basic = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${formEncode(id)}:${formEncode(secret)}`).toString('base64')}`

const formEncode = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)
