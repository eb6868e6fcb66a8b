import { lookup } from 'node:dns/promises'
import type { Readable } from 'node:stream'
import { Agent, type Dispatcher, EnvHttpProxyAgent, request as send } from 'undici'
import { FetchProblem, toProblem } from '../../src/net/fetch-problem.ts'
import { assertNotPrivate, guardedLookup } from '../../src/net/guarded-lookup.ts'
import { isLoopback } from '../../src/net/loopback.ts'
import { publicAddressProblem } from '../../src/net/public-address-problem.ts'
import { failures } from './failures.ts'
import type { Location } from './location.ts'

/** One request to a registry, or to a place it sends us to. */
export interface RegistryRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT'
  readonly url: string
  /** `authorization` goes to the origin of `url` only. */
  readonly headers?: Readonly<Record<string, string>>
  /** Makes the body, anew for each attempt. */
  readonly body?: () => Buffer | string | Readable
  /** Time limit for the response's headers; reading the body has its own limit. */
  readonly signal?: AbortSignal | undefined
}

export interface RegistryAnswer {
  readonly status: number
  /** URL of the response, after redirects. */
  readonly url: string
  /** The header's value, several joined by commas. */
  header(name: string): string | undefined
  readonly body: Dispatcher.ResponseData['body']
}

/** Sends requests for what a location names; the location is for messages. */
export type Send = (location: Location, request: RegistryRequest) => Promise<RegistryAnswer>

export interface TransportOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Time limits for connecting, for headers, and between two pieces of a body. */
  readonly stepTimeoutMs?: number
  /** Waits between two attempts. */
  readonly delay: (ms: number, signal?: AbortSignal) => Promise<unknown>
}

const ATTEMPTS = 3
const REDIRECTS = 5
/** A longer pause counts as a refusal. */
const LONGEST_PAUSE_MS = 20_000

/**
 * Speaks HTTP with registries: redirects followed here (credentials stay behind when the origin
 * changes, https never becomes http), tries again after 429 and 5xx, errors turned into failures.
 */
export function createTransport({ env, stepTimeoutMs = 30_000, delay }: TransportOptions): Send {
  const dispatcherFor = createDispatchers(env, stepTimeoutMs)

  async function once(
    location: Location,
    request: RegistryRequest,
    url: URL,
    headers: Record<string, string>,
  ) {
    const publicOnly = !(await mayBePrivate(location, url))
    if (publicOnly) assertNotPrivate(url)
    const body = request.body?.()
    return send(url, {
      method: request.method,
      headers,
      dispatcher: dispatcherFor(url, publicOnly),
      ...(body === undefined ? {} : { body }),
      ...(request.signal ? { signal: request.signal } : {}),
    })
  }

  async function follow(location: Location, request: RegistryRequest): Promise<RegistryAnswer> {
    let url = new URL(request.url)
    let headers: Record<string, string> = {
      'accept-encoding': 'identity',
      'user-agent': 'keelson',
      ...request.headers,
    }
    for (let hop = 0; ; hop++) {
      const answer = await once(location, request, url, headers).catch(error => {
        request.signal?.throwIfAborted()
        throw toProblem(error, url, undefined)
      })
      const target = answer.headers.location
      const isRedirect = [301, 302, 303, 307, 308].includes(answer.statusCode)
      if (!isRedirect || typeof target !== 'string' || !/^(GET|HEAD)$/.test(request.method)) {
        return {
          status: answer.statusCode,
          url: url.href,
          header: name => joined(answer.headers[name]),
          body: answer.body,
        }
      }
      discard(answer.body)
      if (hop >= REDIRECTS) throw new FetchProblem('redirect', `more than ${REDIRECTS} redirects`)
      const next = URL.parse(target, url.href)
      if (!next) throw new FetchProblem('redirect', 'it redirects to no URL')
      assertSafeHop(url, next)
      if (next.origin !== url.origin) headers = withoutAuthorization(headers)
      url = next
    }
  }

  return async (location, request) => {
    for (let attempt = 1; ; attempt++) {
      let pause = 500 * 2 ** (attempt - 1)
      try {
        const answer = await follow(location, request)
        if (answer.status !== 429 && (answer.status < 500 || answer.status === 501)) return answer
        discard(answer.body)
        pause = retryAfter(answer.header('retry-after')) ?? pause
        if (attempt >= ATTEMPTS || pause > LONGEST_PAUSE_MS) {
          throw failures.oci_busy({ ...location, status: answer.status })
        }
      } catch (error) {
        if (!(error instanceof FetchProblem)) throw error
        const isPassing = error.kind === 'broken' && isConnectionLost(error)
        if (attempt >= ATTEMPTS || !isPassing) throw toFailure(error, location)
      }
      await delay(pause, request.signal)
    }
  }
}

/** Turns a problem of the network into a failure that names registry and reference. */
export function toFailure(problem: FetchProblem, location: Location): Error {
  // The failure names the registry; only another host, after a redirect, is worth naming again.
  const text = problem.message.replace(`${new URL(location.origin).host}: `, '')
  const details = { reference: location.reference, registry: location.registry, problem: text }
  const options = { cause: problem }
  if (problem.kind === 'tls') return failures.oci_tls(details, options)
  if (problem.kind === 'timeout') return failures.oci_timeout(details, options)
  if (problem.kind === 'dns' || problem.kind === 'unreachable')
    return failures.oci_unreachable(details, options)
  return failures.oci_broken(details, options)
}

/** Reads a whole body, at most `limit` bytes of it, within a minute. */
export async function readBody(location: Location, answer: RegistryAnswer, limit: number): Promise<Buffer> {
  const tooLarge = () => failures.oci_too_large({ ...location, limit })
  const declared = Number(answer.header('content-length') ?? 0)
  if (declared > limit) {
    discard(answer.body)
    throw tooLarge()
  }
  const slow = AbortSignal.timeout(60_000)
  const giveUp = () => answer.body.destroy(new FetchProblem('timeout', 'its response does not end'))
  slow.addEventListener('abort', giveUp, { once: true })
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of answer.body) {
      size += chunk.length
      if (size > limit) throw tooLarge()
      chunks.push(chunk)
    }
  } catch (error) {
    if (size > limit) throw error
    throw toFailure(toProblem(error, new URL(answer.url), undefined), location)
  } finally {
    slow.removeEventListener('abort', giveUp)
  }
  return Buffer.concat(chunks)
}

/** Discards a body that is not read. */
export function discard(body: RegistryAnswer['body']): void {
  body.on('error', () => undefined).destroy()
}

/**
 * Whether a request may go to this machine or to a private network. The registry itself may be there if the
 * user has named it. Another place that it names may be there only if the registry is.
 */
async function mayBePrivate(location: Location, url: URL): Promise<boolean> {
  if (location.publicOnly) return false
  if (url.origin === location.origin) return true
  const { hostname } = new URL(location.origin)
  const addresses = await lookup(hostname.replace(/^\[|\]$/g, ''), { all: true }).catch(() => [])
  return addresses.some(({ address }) => publicAddressProblem(address) !== undefined)
}

function createDispatchers(
  env: TransportOptions['env'],
  stepTimeoutMs: number,
): (url: URL, publicOnly: boolean) => Dispatcher {
  const options = {
    connect: { timeout: Math.min(stepTimeoutMs, 10_000) },
    headersTimeout: stepTimeoutMs,
    bodyTimeout: stepTimeoutMs,
  }
  const direct = new Agent(options)
  const guarded = new Agent({ ...options, connect: { ...options.connect, lookup: guardedLookup(false) } })
  const own = (publicOnly: boolean) => (publicOnly ? guarded : direct)
  const httpProxy = env.http_proxy ?? env.HTTP_PROXY
  const httpsProxy = env.https_proxy ?? env.HTTPS_PROXY
  if (!httpProxy && !httpsProxy) return (_, publicOnly) => own(publicOnly)
  const proxied = new EnvHttpProxyAgent({
    ...options,
    ...(httpProxy ? { httpProxy } : {}),
    ...(httpsProxy ? { httpsProxy } : {}),
    noProxy: env.no_proxy ?? env.NO_PROXY ?? '',
  })
  return (url, publicOnly) => (isLoopback(url.hostname) ? own(publicOnly) : proxied)
}

function assertSafeHop(from: URL, to: URL): void {
  if (to.protocol !== 'https:' && to.protocol !== 'http:') {
    throw new FetchProblem('redirect', 'it redirects to something other than a web address')
  }
  const isPlain = to.protocol === 'http:' && to.origin !== from.origin
  if (isPlain && (from.protocol === 'https:' || !isLoopback(to.hostname))) {
    throw new FetchProblem('redirect', `it redirects to plain http (${to.host})`)
  }
}

const joined = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(', ') : value

const withoutAuthorization = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'authorization'))

/** Seconds or a date (RFC 9110 section 10.2.3), in milliseconds from now. */
function retryAfter(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0)
}

const isConnectionLost = ({ cause }: FetchProblem): boolean =>
  cause instanceof Error && 'code' in cause && /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(String(cause.code))
