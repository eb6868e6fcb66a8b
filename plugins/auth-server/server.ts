import type { IncomingMessage } from 'node:http'
import type { Exchange } from '../../src/contracts/pipeline.ts'
import { pagesOf } from './authorize/callback-path.ts'
import { createLoginRoutes } from './authorize/login-routes.ts'
import { createFindClient } from './clients/find-client.ts'
import type { AddressOf } from './clients/flood-limit.ts'
import { createRegisteredClients } from './clients/registered-clients.ts'
import { createRegistration } from './clients/registration.ts'
import { createAccessTokens } from './grants/access-token.ts'
import type { Admission } from './grants/admission.ts'
import { createCodes } from './grants/codes.ts'
import { createGrants } from './grants/grants.ts'
import { createIdTokens } from './grants/id-token.ts'
import type { HmacSecrets } from './keys/hmac-secrets.ts'
import type { SigningKeys } from './keys/signing-keys.ts'
import { describeServer } from './metadata.ts'
import { problemPage, START_AGAIN } from './pages/problem-page.ts'
import { OAuthError } from './protocol/oauth-error.ts'
import { errorReply, jsonReply, type Reply } from './protocol/reply.ts'
import type { Respond, Route } from './protocol/route.ts'
import type { ServerSettings } from './settings.ts'
import type { Store } from './storage/store.ts'
import type { TrustedIssuer } from './tokens/assertion-grant.ts'
import { createReadOwnToken } from './tokens/own-token.ts'
import { createTokenRoutes } from './tokens/token-routes.ts'
import type { Upstream } from './upstream/upstream.ts'

/** What an authorization server is made of. */
export interface ServerParts {
  readonly settings: ServerSettings
  readonly store: Store
  readonly upstreams: readonly Upstream[]
  /** Whose assertions are exchanged for tokens. */
  readonly issuers?: readonly TrustedIssuer[]
  readonly keys: () => Promise<SigningKeys>
  readonly secrets: HmacSecrets
  /** Absent: the other end of the connection. */
  readonly addressOf?: AddressOf
  readonly now?: () => number
}

/** An authorization server for the clients of one workload. */
export interface AuthServer {
  /** Paths that people open in a browser. */
  readonly pages: readonly string[]
  /** Returns the response to a request; undefined: the path is none of its own. */
  respond(exchange: Pick<Exchange, 'request' | 'signal'>): Promise<Reply> | undefined
  /** The public keys (RFC 7517) that its tokens are checked with. */
  publishedKeys(): Promise<Readonly<Record<string, unknown>>>
  /** Whether the grant of an access token, whose signature is valid, still exists. */
  isActive(claims: Readonly<Record<string, unknown>>): Promise<boolean>
}

const CACHED = { 'cache-control': 'public, max-age=3600', 'access-control-allow-origin': '*' }
/** RFC 8414, section 3.1; some clients put the path of the issuer, or of the server, behind. */
const METADATA = /^\/\.well-known\/(?:oauth-authorization-server|openid-configuration)(?:\/|$)/

export function createAuthServer(parts: ServerParts): AuthServer {
  const {
    settings,
    store,
    upstreams,
    keys,
    secrets,
    issuers = [],
    addressOf = peerOf,
    now = Date.now,
  } = parts
  const { issuer, accessTokenMs, refreshTokenMs, codeMs } = settings
  const [first] = upstreams
  const admits = new Map([
    ...issuers.map(({ issuer, admit }) => [issuer, admit] as const),
    ...(first ? [[first.id, settings.admit] as const] : []),
  ])
  const mayUse = (issuer: string, admission: Admission) => admits.get(issuer)?.(admission) !== undefined
  const clients = createRegisteredClients(store, now)
  const find = createFindClient(clients, settings, { addressOf, now })
  const lifetimeMs = Math.max(refreshTokenMs, accessTokenMs)
  const grants = createGrants(store, {
    lifetimeMs,
    isGood: ({ issuer, admission }) => mayUse(issuer, admission),
  })
  const codes = createCodes(store, grants, codeMs)
  const accessTokens = createAccessTokens({ issuer, keys, lifetimeMs: accessTokenMs, now })
  const idTokens = createIdTokens({ issuer, keys, lifetimeMs: accessTokenMs, now })
  const readOwnToken = createReadOwnToken({ issuer, keys, grants, now })
  const tokens = createTokenRoutes({
    ...{ settings, store, find, clients, codes, grants, accessTokens, idTokens, secrets, readOwnToken },
    ...{ issuers, now },
  })
  const register = createRegistration({ clients, settings, addressOf, now })
  const metadata: Respond = async () => {
    const about = { grantTypes: tokens.grantTypes, algorithm: (await keys()).algorithm }
    return jsonReply(200, describeServer(settings, about), CACHED)
  }
  const logins = createLoginRoutes({ settings, store, find, upstreams, codes, secrets, now })
  const pages = pagesOf(upstreams)
  const routes: ReadonlyMap<string, Route> = new Map([
    ['/.well-known/jwks.json', { GET: async () => jsonReply(200, (await keys()).published, CACHED) }],
    ['/oauth/register', { POST: register }],
    ...logins,
    ...tokens.routes,
  ])
  const prefix = new URL(issuer).pathname.replace(/\/$/, '')

  return {
    pages,
    publishedKeys: async () => ({ ...(await keys()).published }),
    async isActive({ tsid, sub }) {
      const grant = typeof tsid === 'string' ? await grants.find(tsid) : undefined
      return grant !== undefined && grant.subject === sub
    },
    respond({ request, signal }) {
      const whole = request.url?.split('?', 1)[0] ?? ''
      // What stands in front may leave the path of the issuer in.
      const path = prefix && whole.startsWith(`${prefix}/`) ? whole.slice(prefix.length) : whole
      const route = METADATA.test(path) ? { GET: metadata } : routes.get(path)
      return route && respondSafely(route, { request, signal, isPage: pages.includes(path) })
    },
  }
}

const peerOf: AddressOf = ({ socket }) => socket.remoteAddress

async function respondSafely(
  route: Route,
  { request, signal, isPage }: { request: IncomingMessage; signal: AbortSignal; isPage: boolean },
): Promise<Reply> {
  const method = request.method ?? ''
  const respond = Object.hasOwn(route, method) ? route[method] : undefined
  try {
    if (respond) return await respond(request, signal)
    const allow = Object.keys(route).join(', ')
    throw new OAuthError('invalid_request', `The method must be ${allow}.`, {
      status: 405,
      headers: { allow },
    })
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    if (!isPage) return errorReply(error)
    return problemPage(error.status, { what: error.message, todo: START_AGAIN }, error.headers)
  }
}
