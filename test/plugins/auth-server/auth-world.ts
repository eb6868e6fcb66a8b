import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { openKeys } from '../../../plugins/auth-server/keys/open-keys.ts'
import { sendReply } from '../../../plugins/auth-server/protocol/reply.ts'
import type { AuthServerConfig } from '../../../plugins/auth-server/section.ts'
import { createAuthServer } from '../../../plugins/auth-server/server.ts'
import { toSettings } from '../../../plugins/auth-server/settings.ts'
import type { Store } from '../../../plugins/auth-server/storage/store.ts'
import type { TrustedIssuer } from '../../../plugins/auth-server/tokens/assertion-grant.ts'
import type { Upstream, UpstreamLogin } from '../../../plugins/auth-server/upstream/upstream.ts'
import { testProxy } from '../proxy/test-proxy.ts'
import { mapStore } from './map-store.ts'

let opened: ReturnType<typeof openKeys> | undefined

/** A provider whose page sends everybody straight back, as one does where the person is logged in already. */
export function fakeUpstream(
  name = 'default',
  login: () => Partial<UpstreamLogin> = () => ({}),
  place = `${name} https://login.example`,
): Upstream {
  return {
    name,
    id: place,
    async authorizationUrl({ redirectUri, state }) {
      const back = new URLSearchParams({ state, code: `${name}-code` })
      return { url: `${redirectUri}?${back}`, checks: { verifier: `${name}-verifier` } }
    },
    async finish({ callback, checks }) {
      if (callback.searchParams.get('code') !== `${name}-code` || checks.verifier !== `${name}-verifier`) {
        throw new Error('the wrong login is finished')
      }
      const tokens = { accessToken: `${name}-access-token` }
      return { subject: 'ada', name: 'Ada', email: 'ada@example.com', claims: {}, tokens, ...login() }
    },
    refresh: async tokens => tokens,
  }
}

interface WorldOptions {
  readonly config?: Partial<AuthServerConfig>
  readonly upstreams?: readonly Upstream[]
  readonly issuers?: readonly TrustedIssuer[]
}

/** A proxy with an authorization server in front of nothing, whose storage and clock the test has in its hands. */
export async function authWorld(options: WorldOptions = {}) {
  const clock = { ms: Date.now() }
  const { store, all } = mapStore(() => clock.ms)
  const world = await openWorld(options, { clock, store })
  /** The same server, started anew with another configuration. */
  const again = (changed: WorldOptions) =>
    openWorld({ ...changed, config: { issuer: world.origin, ...changed.config } }, { clock, store })
  return { ...world, clock, stored: all, again }
}

async function openWorld(options: WorldOptions, { clock, store }: { clock: { ms: number }; store: Store }) {
  const now = () => clock.ms
  const peer: { address: string | undefined } = { address: undefined }
  const addressOf = ({ socket }: IncomingMessage) => peer.address ?? socket.remoteAddress
  opened ??= openKeys({ upstreams: [] }, { folder: '/nowhere', log: { warn() {} } })
  const { signing: keys, secrets } = await opened
  const upstreams = options.upstreams ?? [fakeUpstream()]
  const proxy = await testProxy({
    middlewares: [
      async (_, { port }) => {
        const settings = toSettings({ upstreams: [], ...options.config }, `http://127.0.0.1:${port}/mcp`)
        const parts = {
          settings,
          store,
          upstreams,
          secrets,
          keys,
          issuers: options.issuers ?? [],
          addressOf,
          now,
        }
        const server = createAuthServer(parts)
        return {
          name: 'auth-server',
          stage: 'well-known',
          pages: server.pages,
          wrap: next => exchange => {
            const reply = server.respond(exchange)
            return reply
              ? reply.then(made => sendReply(exchange.request, exchange.response, made))
              : next(exchange)
          },
        }
      },
    ],
  })
  const { origin } = proxy
  /** Requests come from this address from now on. */
  const from = (address: string) => {
    peer.address = address
  }
  return { origin, from, ...oauthClient(origin) }
}

export const CALLBACK = 'http://127.0.0.1/callback'
const VERIFIER = randomBytes(32).toString('base64url')
export const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url')

type Fields = Readonly<Record<string, string | undefined>>

const form = (fields: Fields): URLSearchParams =>
  new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as [string, string]],
    ),
  )

/** What a client and the browser of a person do. */
export function oauthClient(origin: string) {
  const resource = `${origin}/mcp`

  const register = (metadata: object = {}, init: RequestInit = {}) =>
    fetch(`${origin}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: 'Test', redirect_uris: [CALLBACK], ...metadata }),
      ...init,
    })

  async function registered(metadata: object = {}): Promise<string> {
    const response = await register(metadata)
    const { client_id: id } = (await response.json()) as { client_id?: string }
    if (!id) throw new Error(`the client was not registered (${response.status})`)
    return id
  }

  const authorizeUrl = (clientId: string, fields: Fields = {}): string =>
    `${origin}/oauth/authorize?${form({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: CALLBACK,
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
      state: 'state of the client',
      resource,
      ...fields,
    })}`

  /** A browser of its own: it keeps cookies, and follows redirects as long as they lead to the server. */
  function browser() {
    const cookies = new Map<string, string>()
    async function open(url: string, init: RequestInit = {}): Promise<Response> {
      const jar = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const headers = { ...(init.headers as Record<string, string>), ...(jar ? { cookie: jar } : {}) }
      const response = await fetch(url, { ...init, headers, redirect: 'manual' })
      for (const cookie of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
        if (value) cookies.set(name, value)
        else cookies.delete(name)
      }
      return response
    }
    /** Ends at a page, or at the first URL of somebody else. */
    async function follow(url: string, init: RequestInit = {}): Promise<{ response: Response; url: string }> {
      let response = await open(url, init)
      for (let at = url; ; response = await open(at)) {
        const next = response.headers.get('location')
        if (next === null) return { response, url: at }
        at = new URL(next, at).href
        if (!at.startsWith(`${origin}/`)) return { response, url: at }
      }
    }
    /** Presses a button of the form on a page. Returns where that leads. */
    async function press(page: string, decision: 'allow' | 'refuse', change: Fields = {}) {
      const fields = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)]
      const values = Object.fromEntries(fields.map(([, name, value]) => [name, value]))
      const [, action = ''] = /<form method="post" action="([^"]+)">/.exec(page) ?? []
      return follow(action, { method: 'POST', body: form({ ...values, decision, ...change }) })
    }
    return { open, follow, press, cookies }
  }

  /** Logs a person in and lets them agree. Returns the URL that the client is told. */
  async function authorized(clientId: string, fields: Fields = {}, tab = browser()): Promise<URL> {
    const { response, url } = await tab.follow(authorizeUrl(clientId, fields))
    if (!url.startsWith(`${origin}/`)) return new URL(url)
    const page = await response.text()
    if (response.status !== 200) throw new Error(`${response.status}: ${page}`)
    return new URL((await tab.press(page, 'allow')).url)
  }

  const token = (fields: Fields, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${origin}/oauth/token`, { method: 'POST', body: form(fields), headers })

  const codeFields = (clientId: string, code: string): Fields => ({
    ...{ grant_type: 'authorization_code', code, client_id: clientId },
    ...{ redirect_uri: CALLBACK, code_verifier: VERIFIER, resource },
  })

  /** Logs a person in with a new client. Returns the response of the token endpoint. */
  async function loggedIn(clientId: string, fields: Fields = {}) {
    const code = (await authorized(clientId, fields)).searchParams.get('code') ?? ''
    const response = await token(codeFields(clientId, code))
    type Tokens = { access_token: string; refresh_token: string; id_token?: string }
    return { code, ...((await response.json()) as Tokens) }
  }

  const refresh = (clientId: string, refreshToken: string, fields: Fields = {}) =>
    token({ grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId, ...fields })

  return {
    ...{
      resource,
      register,
      registered,
      authorizeUrl,
      browser,
      authorized,
      token,
      codeFields,
      loggedIn,
      refresh,
    },
  }
}
