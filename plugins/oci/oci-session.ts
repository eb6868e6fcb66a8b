import { type Challenge, parseChallenges } from '../../src/net/challenges.ts'
import { isLoopback } from '../../src/net/loopback.ts'
import type { Credentials, FindCredentials, FoundCredentials } from './credentials.ts'
import { failures } from './failures.ts'
import type { Location } from './location.ts'
import { discard, type RegistryAnswer, type RegistryRequest, readBody, type Send } from './transport.ts'

const MAX_TOKEN_ANSWER = 64 * 1024

/** A request that is sent again, with a login, when the registry asks for one. */
export interface SessionRequest extends RegistryRequest {
  /** What the login must allow; further repositories for a mount. */
  readonly actions: 'pull' | 'pull,push'
  readonly alsoPull?: string
}

/** Sends requests and logs in as the registry asks (distribution's token authentication, or Basic). */
export type Session = (location: Location, request: SessionRequest) => Promise<RegistryAnswer>

/**
 * Logs in only when a registry asks for it, and keeps what it got for as long as it is valid, in memory.
 * Credentials go to the registry itself, or to the token service that it names, over TLS.
 */
export function createSession(options: {
  send: Send
  findCredentials: FindCredentials
  now?: () => number
}): Session {
  const { send, findCredentials, now = Date.now } = options
  const granted = new Map<string, { header: string; until: number }>()

  return async (location, request) => {
    const key = [location.origin, location.repository, request.actions, request.alsoPull].join(' ')
    const kept = granted.get(key)
    // A token of this registry must not be sent to other hosts, e.g. an upload address elsewhere.
    const mayLogIn = new URL(request.url).origin === location.origin
    if (!mayLogIn) return send(location, request)
    const usable = kept && kept.until > now() ? kept.header : undefined
    const first = await send(location, withHeader(request, usable))
    if (first.status !== 401) return first
    discard(first.body)
    granted.delete(key)

    const found = await findCredentials(location.registry, location.repository, request.signal)
    const denied = () =>
      failures.oci_denied({ ...location, credentials: found.source, problems: found.problems })
    // The response came from another host after a redirect; the login is not for that host.
    if (new URL(first.url).origin !== location.origin) throw denied()
    const grant = await logIn(location, request, first.header('www-authenticate') ?? '', found)
    if (!grant) throw denied()
    granted.set(key, grant)
    const second = await send(location, withHeader(request, grant.header))
    if (second.status !== 401 && second.status !== 403) return second
    discard(second.body)
    granted.delete(key)
    throw denied()
  }

  async function logIn(
    location: Location,
    request: SessionRequest,
    header: string,
    { credentials, ...found }: FoundCredentials,
  ): Promise<{ header: string; until: number } | undefined> {
    const challenges = parseChallenges(header)
    const bearer = challenges.find(({ scheme }) => scheme === 'bearer')
    if (bearer && credentials?.kind === 'bearer') {
      return { header: `Bearer ${credentials.token}`, until: Number.POSITIVE_INFINITY }
    }
    if (bearer) {
      const url = tokenService(location, bearer, credentials)
      const answer = await askForToken(location, url, request, bearer, credentials)
      if (answer.status === 401 || answer.status === 403 || answer.status === 400) {
        discard(answer.body)
        throw failures.oci_denied({ ...location, credentials: found.source, problems: found.problems })
      }
      return readToken(location, answer, now())
    }
    const isBasic = challenges.some(({ scheme }) => scheme === 'basic')
    if (isBasic && credentials?.kind === 'password') {
      return { header: basic(credentials), until: Number.POSITIVE_INFINITY }
    }
    return undefined
  }

  function askForToken(
    location: Location,
    url: URL,
    request: SessionRequest,
    { parameters }: Challenge,
    credentials: Credentials | undefined,
  ): Promise<RegistryAnswer> {
    const scopes = scopesOf(location, request, parameters.scope)
    const { signal } = request
    if (credentials?.kind === 'identity') {
      const form = new URLSearchParams({ grant_type: 'refresh_token', client_id: 'keelson' })
      form.set('refresh_token', credentials.token)
      form.set('scope', scopes.join(' '))
      if (parameters.service) form.set('service', parameters.service)
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      return send(location, { method: 'POST', url: url.href, headers, body: () => form.toString(), signal })
    }
    if (parameters.service) url.searchParams.set('service', parameters.service)
    for (const scope of scopes) url.searchParams.append('scope', scope)
    const headers: Record<string, string> =
      credentials?.kind === 'password' ? { authorization: basic(credentials) } : {}
    return send(location, { method: 'GET', url: url.href, headers, signal })
  }
}

const withHeader = (request: SessionRequest, authorization: string | undefined): RegistryRequest => ({
  ...request,
  headers: { ...request.headers, ...(authorization ? { authorization } : {}) },
})

const basic = ({ username, password }: { username: string; password: string }): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

/**
 * Where tokens are got. A registry is believed when it names another host, as docker.io does, but
 * not when that would send credentials in clear, or from a plain-HTTP registry to somebody else.
 */
function tokenService(location: Location, { parameters }: Challenge, credentials?: Credentials): URL {
  const refuse = (problem: string) => failures.oci_realm({ registry: location.registry, problem })
  const url = URL.parse(parameters.realm ?? '')
  if (!url || !/^https?:$/.test(url.protocol)) throw refuse('it names no token service.')
  if (url.username || url.password) throw refuse('the address of its token service holds a user name.')
  const own = new URL(location.origin)
  if (own.protocol === 'https:') {
    if (url.protocol !== 'https:') throw refuse(`its token service ${url.host} is reached without TLS.`)
    return url
  }
  const isSamePlace = url.hostname === own.hostname || (isLoopback(url.hostname) && isLoopback(own.hostname))
  if (credentials && !isSamePlace) {
    throw refuse(`it is reached without TLS and wants the login to go to ${url.host}.`)
  }
  if (url.protocol === 'http:' && !isSamePlace) {
    throw refuse(`its token service ${url.host} is reached without TLS.`)
  }
  return url
}

function scopesOf(
  { repository }: Location,
  { actions, alsoPull }: SessionRequest,
  asked: string | undefined,
): string[] {
  const scopes = asked?.split(/\s+/).filter(Boolean) ?? []
  if (!scopes.length) scopes.push(`repository:${repository}:${actions}`)
  if (alsoPull) scopes.push(`repository:${alsoPull}:pull`)
  return [...new Set(scopes)]
}

async function readToken(
  location: Location,
  answer: RegistryAnswer,
  now: number,
): Promise<{ header: string; until: number }> {
  const broken = (problem: string) => failures.oci_broken({ ...location, problem })
  if (answer.status !== 200) {
    discard(answer.body)
    throw broken(`its token service responded with status ${answer.status}`)
  }
  const body = await readBody(location, answer, MAX_TOKEN_ANSWER)
  let document: { token?: unknown; access_token?: unknown; expires_in?: unknown } | null
  try {
    document = JSON.parse(body.toString('utf8'))
  } catch {
    throw broken('its token service does not return JSON')
  }
  const token = document?.token || document?.access_token
  // RFC 6750 section 2.1; anything else could not be sent as a header.
  if (typeof token !== 'string' || !/^[A-Za-z0-9._~+/=-]+$/.test(token)) {
    throw broken('its token service gives no token')
  }
  const seconds = Number(document?.expires_in)
  // Sixty seconds unless told; a little less, so that it does not run out on the way.
  const lifetime = (seconds > 0 ? seconds : 60) * 1000
  return { header: `Bearer ${token}`, until: now + lifetime * 0.9 }
}
