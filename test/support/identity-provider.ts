import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import Provider from 'oidc-provider'
import { onTestFinished } from 'vitest'
import { EXCHANGE_GRANTS, registerExchangeGrants } from './exchange-grants.ts'
import { interactionPages } from './interaction-pages.ts'

/** Scopes of the API that access tokens are for. */
const API_SCOPE = 'read write'
const CALLBACKS = ['http://localhost/callback', 'http://127.0.0.1/callback']

export interface IdentityProviderOptions {
  /** Whom access tokens are for. */
  readonly audience?: string
  /** Signed JWTs (RFC 9068), or words that only the provider knows the meaning of. */
  readonly format?: 'jwt' | 'opaque'
  readonly accessTokenSeconds?: number
  /** Whether a refresh token is replaced at each use; using an old one again then ends the grant. */
  readonly rotate?: boolean
  /** False: it gives none. */
  readonly refreshTokens?: boolean
  /** Further clients, as the package oidc-provider has them. */
  readonly clients?: readonly object[]
  /** Who signs in. */
  readonly account?: string
  /** The client `service` may exchange tokens (RFC 8693), and show an ID-JAG (RFC 7523). */
  readonly exchanges?: boolean
  /** Shows pages with forms, and waits for a person to fill them in; who signs in is the name typed there. */
  readonly pages?: boolean
}

/** A real OpenID provider (the package oidc-provider) on loopback. */
export interface IdentityProvider {
  readonly issuer: string
  /** A public client that may come back to any port of this host. */
  readonly clientId: 'keelson-test'
  /** A client with a secret, for tokens without a person. */
  readonly service: { readonly id: 'service'; readonly secret: string }
  readonly audience: string
  /** Requests so far: method, path and form. */
  readonly asked: readonly { method: string; path: string; form: URLSearchParams }[]
  /** What the person does from now on who is shown the consent page. */
  decide(what: 'approve' | 'deny'): void
  /** How long new access tokens are good for. */
  expireAfter(seconds: number): void
  /** Answers in the provider's place: true when it has taken the request. Undefined: the provider is itself again. */
  answer(how: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined): void
  /** Does with a URL what a person's browser does: follows redirects, keeps cookies, signs in. Answers the last page. */
  visit(url: string): Promise<{ status: number; url: string; text: string }>
  /** The same in a browser of another machine, where nobody listens. Answers the URL that it ends at. */
  visitElsewhere(url: string): Promise<string>
  /** A token for the API, by client credentials (RFC 6749, section 4.4). */
  token(options?: { scope?: string }): Promise<string>
  /** A JWT with these claims, signed by the provider: its issuer, audience and times are filled in. */
  sign(claims: Readonly<Record<string, unknown>>, options?: { seconds?: number }): Promise<string>
  /** Takes a token back (RFC 7009). */
  revoke(token: string): Promise<void>
  /** Refuses connections from now on. */
  stop(): Promise<void>
}

/** One key for all providers of a test file: a new one takes a second on a busy machine. */
let signing: ReturnType<typeof generateKeyPair> | undefined

/** Starts one that ends with the test. */
export async function identityProvider(options: IdentityProviderOptions = {}): Promise<IdentityProvider> {
  const { audience = 'https://api.example', rotate = true, account = 'ada' } = options
  const { format = 'jwt' } = options
  const service = { id: 'service', secret: 'service-secret-of-the-test' } as const
  let seconds = options.accessTokenSeconds ?? 3600
  let decision: 'approve' | 'deny' = 'approve'
  let instead: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined
  const asked: { method: string; path: string; form: URLSearchParams }[] = []

  const server = createServer((request, response) => {
    const entry = { method: request.method ?? '', path: request.url ?? '', form: new URLSearchParams() }
    asked.push(entry)
    request.on('data', chunk => {
      for (const [name, value] of new URLSearchParams(String(chunk))) entry.form.set(name, value)
    })
    if (instead?.(request, response)) return
    if (entry.path.startsWith('/interaction/')) {
      interact(request, response, entry.form).catch(error => response.writeHead(500).end(String(error)))
    } else handle(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  signing ??= generateKeyPair('RS256', { extractable: true })
  const { privateKey } = await signing
  const day = 86_400
  const provider = new Provider(issuer, {
    jwks: { keys: [{ ...(await exportJWK(privateKey)), use: 'sig', kid: 'test' }] },
    clients: [
      {
        client_id: 'keelson-test',
        token_endpoint_auth_method: 'none',
        application_type: 'native',
        redirect_uris: CALLBACKS,
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      },
      {
        client_id: service.id,
        client_secret: service.secret,
        redirect_uris: [],
        grant_types: ['client_credentials', ...(options.exchanges ? EXCHANGE_GRANTS : [])],
        response_types: [],
      },
      ...(options.clients ?? []),
    ],
    cookies: { keys: ['only for tests'] },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      registration: { enabled: true },
      introspection: { enabled: true },
      revocation: { enabled: true, allowedPolicy: () => true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: API_SCOPE,
          audience,
          accessTokenTTL: seconds,
          accessTokenFormat: format,
        }),
      },
    },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    rotateRefreshToken: rotate,
    ...(options.refreshTokens === false ? { issueRefreshToken: () => false } : {}),
    ttl: {
      AccessToken: () => seconds,
      ClientCredentials: () => seconds,
      ...{
        AuthorizationCode: 60,
        IdToken: 600,
        RefreshToken: day,
        Interaction: day,
        Session: day,
        Grant: day,
      },
    },
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
    renderError(ctx: { body: unknown }, out: Record<string, string>) {
      ctx.body = out
    },
  })
  if (options.exchanges) {
    registerExchangeGrants(provider, { issuer, key: await signing, seconds: () => seconds })
  }
  const handle = provider.callback()

  /** The pages a person would see: name and password, then what the client wants. */
  async function interact(
    request: IncomingMessage,
    response: ServerResponse,
    form: URLSearchParams,
  ): Promise<void> {
    if (request.method === 'POST') await once(request, 'end')
    const { prompt, params, session, grantId } = await provider.interactionDetails(request, response)
    if (options.pages && request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/html' }).end(interactionPages[prompt.name])
      return
    }
    if (prompt.name === 'login') {
      const login = { accountId: form.get('name') ?? account }
      return provider.interactionFinished(request, response, { login })
    }
    if (decision === 'deny') {
      const refusal = { error: 'access_denied', error_description: 'The person said no.' }
      return provider.interactionFinished(request, response, refusal)
    }
    const before = grantId === undefined ? undefined : await provider.Grant.find(grantId)
    const grant = before ?? new provider.Grant({ accountId: session?.accountId, clientId: params.client_id })
    grant.addOIDCScope('openid offline_access profile email')
    for (const resource of [params.resource ?? audience].flat()) grant.addResourceScope(resource, API_SCOPE)
    const saved = await grant.save()
    return provider.interactionFinished(request, response, { consent: { grantId: saved } })
  }

  const stop = async (): Promise<void> => {
    if (!server.listening) return
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  onTestFinished(stop)

  return {
    issuer,
    clientId: 'keelson-test',
    service,
    audience,
    asked,
    decide(what) {
      decision = what
    },
    expireAfter(next) {
      seconds = next
    },
    answer(how) {
      instead = how
    },
    visit: url => visit(url, issuer),
    visitElsewhere: async url => (await visit(url, issuer, { leaves: false })).url,
    async token({ scope = API_SCOPE } = {}) {
      const basic = Buffer.from(`${service.id}:${service.secret}`).toString('base64')
      const response = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${basic}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', scope, resource: audience }),
      })
      const { access_token: token } = (await response.json()) as { access_token?: string }
      if (!token) throw new Error(`the identity provider gave no token (${response.status})`)
      return token
    },
    async sign(claims, { seconds: life = 3600 } = {}) {
      const at = Math.floor(Date.now() / 1000)
      return new SignJWT({ iss: issuer, aud: audience, iat: at, exp: at + life, ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: 'test', typ: 'at+jwt' })
        .sign(privateKey)
    },
    async revoke(token) {
      const response = await fetch(`${issuer}/token/revocation`, {
        method: 'POST',
        body: new URLSearchParams({ token, client_id: 'keelson-test' }),
      })
      if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
    },
    stop,
  }
}

/** Follows redirects by hand, since cookies belong to the provider alone. */
async function visit(
  start: string,
  issuer: string,
  { leaves = true }: { leaves?: boolean } = {},
): Promise<{ status: number; url: string; text: string }> {
  const cookies = new Map<string, string>()
  let url = start
  for (let hop = 0; hop < 20; hop++) {
    const jar = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const atHome = url.startsWith(`${issuer}/`)
    const response = await fetch(url, { redirect: 'manual', headers: atHome && jar ? { cookie: jar } : {} })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (value) cookies.set(name, value)
      else cookies.delete(name)
    }
    const text = await response.text()
    const location = response.headers.get('location')
    if (location === null) return { status: response.status, url, text }
    url = new URL(location, url).href
    if (!leaves && !url.startsWith(`${issuer}/`)) return { status: 0, url, text: '' }
  }
  throw new Error(`the way from ${start} never ends`)
}
