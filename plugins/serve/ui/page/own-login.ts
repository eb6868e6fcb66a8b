import { askToken } from './ask-token.tsx'
import { confirm } from './dialog.tsx'

/** What an authorization server says of itself (RFC 8414). */
interface Metadata {
  readonly issuer: string
  readonly authorization_endpoint: string
  readonly token_endpoint: string
  readonly registration_endpoint: string
}

/** What this tab keeps while the person is at the pages of the login; no token is among it. */
const KEY = 'keelson-login'

/** As base64url (RFC 4648, section 5). */
const words = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=+$/, '')

const random = (count: number): string => words(crypto.getRandomValues(new Uint8Array(count)))

/**
 * Finds the access token of whoever looks at this page. Where the server has an authorization server of its own, the
 * page is a client of it (authorization code with PKCE), and goes there when the person says so. Elsewhere a token is
 * pasted. Tokens are kept in this closure and nowhere else: they are gone with the page.
 */
export function createLogin(): () => Promise<string | undefined> {
  let returned = takeReturn()
  let refreshToken: string | undefined

  async function ask({ token_endpoint }: Metadata, fields: Record<string, string>) {
    const response = await fetch(token_endpoint, { method: 'POST', body: new URLSearchParams(fields) })
    if (!response.ok) return undefined
    const tokens = await response.json()
    refreshToken = tokens.refresh_token
    return tokens.access_token
  }

  let client = returned?.client ?? ''
  return async () => {
    const response = await fetch('/.well-known/oauth-authorization-server')
    if (!response.ok) return askToken('login')
    const server: Metadata = await response.json()
    const [back, before] = [returned, refreshToken]
    returned = refreshToken = undefined
    if (before) {
      const fields = { grant_type: 'refresh_token', refresh_token: before, client_id: client }
      const token = await ask(server, fields)
      if (token) return token
    }
    const code = back?.answer.get('code')
    if (back && code && back.answer.get('iss') === server.issuer) {
      const fields = { code, client_id: client, redirect_uri: back.redirectUri, code_verifier: back.verifier }
      const token = await ask(server, { grant_type: 'authorization_code', ...fields })
      if (token) return token
    }
    const wanted = await confirm({
      title: 'Who are you?',
      text: back ? 'The login did not succeed. This server requires one.' : 'This server requires a login.',
      action: 'Log in',
    })
    if (!wanted) return undefined
    client = await leave(server)
    return new Promise(() => {}) // the page is left
  }
}

/** Goes to the login. */
async function leave(server: Metadata): Promise<string> {
  const home = new URL('/', server.issuer)
  if (home.origin !== location.origin) {
    location.assign(new URL(location.hash, home).href) // the same server by the name that its login knows
    return ''
  }
  const redirectUri = home.href
  const registered = await fetch(server.registration_endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'The page of keelson serve', redirect_uris: [redirectUri] }),
  })
  const { client_id: client, error_description: problem } = await registered.json()
  if (!client) throw new Error(problem ?? 'The login cannot be begun now. Try again in a moment.')
  const [state, verifier] = [random(16), random(32)]
  sessionStorage.setItem(KEY, JSON.stringify({ state, verifier, client, redirectUri, hash: location.hash }))
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  const url = new URL(server.authorization_endpoint)
  const request = {
    ...{ response_type: 'code', client_id: client, redirect_uri: redirectUri, state },
    ...{ code_challenge: words(new Uint8Array(digest)), code_challenge_method: 'S256' },
  }
  for (const [name, value] of Object.entries(request)) url.searchParams.set(name, value)
  location.assign(url.href)
  return client
}

/** What the login sent this tab back with, taken out of the address; undefined: it comes from elsewhere. */
function takeReturn() {
  const answer = new URLSearchParams(location.search)
  const begun = JSON.parse(sessionStorage.getItem(KEY) ?? 'null')
  sessionStorage.removeItem(KEY)
  if (!answer.has('state')) return undefined
  history.replaceState(null, '', `${location.pathname}${begun?.hash ?? ''}`)
  return begun && begun.state === answer.get('state') ? { answer, ...begun } : undefined
}
