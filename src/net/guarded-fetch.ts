import { isIP } from 'node:net'
import { Agent, request } from 'undici'
import { FetchProblem, toProblem } from './fetch-problem.ts'
import { assertNotPrivate, guardedLookup } from './guarded-lookup.ts'
import { publicAddressProblem } from './public-address-problem.ts'
import { trustedWith } from './trusted-with.ts'

export interface GuardedRequest {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  /** Of a POST or PUT; which is not sent again to where it is redirected, unless `maxRedirects` says so. */
  readonly body?: string
  /** `authorization` and `cookie` go to the first origin only. */
  readonly headers?: Readonly<Record<string, string>>
  /** Plain http and addresses of this host or of private networks. */
  readonly allowPrivate?: boolean
  /** Plain http; without it as `allowPrivate` says. */
  readonly allowHttp?: boolean
  /** For the whole request, redirects and body among it. */
  readonly timeoutMs?: number
  /** The time limit for connecting and TLS, and again for the headers of the response. */
  readonly stepTimeoutMs?: number
  readonly maxBytes?: number
  /** The most bytes that are read of an error response, whose body is only used in messages. */
  readonly maxErrorBytes?: number
  readonly maxRedirects?: number
  /** Redirects to another origin fail. */
  readonly sameOrigin?: boolean
  /** Returns as soon as the headers are there; the body is empty. For responses that may never end. */
  readonly headersOnly?: boolean
  /** PEM certificates that are trusted besides those of the system. */
  readonly ca?: string | undefined
  readonly signal?: AbortSignal | undefined
}

export interface GuardedResponse {
  readonly status: number
  /** The URL of the response, after redirects. */
  readonly url: string
  /** The header's value; of several the first. */
  header(name: string): string | undefined
  /** All values of the header, joined by commas (RFC 9110 section 5.3). */
  joined(name: string): string | undefined
  /** Whether every hop of the way was an address that is not public. */
  readonly isPrivate: boolean
  readonly body: Buffer
}

const MiB = 1024 * 1024

/**
 * Fetches a document from a place that somebody else names.
 *
 * The address is judged when the connection is made, on what the name resolved to, so a name that resolves to
 * another address later (DNS rebinding) gains nothing. Redirects are followed here, each hop judged anew,
 * credentials left out as soon as the origin changes. The body is counted as it arrives: the length in its
 * header is not relied on. Throws FetchProblem.
 */
export async function guardedFetch(address: string, options: GuardedRequest = {}): Promise<GuardedResponse> {
  const {
    allowPrivate = false,
    allowHttp = allowPrivate,
    timeoutMs = 30_000,
    stepTimeoutMs = 10_000,
  } = options
  const { method = 'GET', maxRedirects = options.body === undefined ? 5 : 0 } = options
  const hosts = new Map<string, boolean>()
  const agent = new Agent({
    connect: {
      lookup: guardedLookup(allowPrivate, (host, isPrivate) => hosts.set(host, isPrivate)),
      timeout: stepTimeoutMs,
      ...(options.ca === undefined ? {} : { ca: trustedWith(options.ca) }),
    },
    headersTimeout: stepTimeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: -1,
  })
  const timeout = AbortSignal.timeout(timeoutMs)
  const signal = options.signal ? AbortSignal.any([timeout, options.signal]) : timeout
  let headers: Record<string, string> = { 'accept-encoding': 'identity', ...options.headers }
  let url = parseUrl(address)
  let isPrivate = true
  try {
    for (let hop = 0; ; hop++) {
      assertAllowed(url, { allowPrivate, allowHttp })
      const answer = await request(url, {
        method,
        headers,
        ...(options.body === undefined ? {} : { body: options.body }),
        dispatcher: agent,
        signal,
      })
      isPrivate &&= isLiteralPrivate(url) ?? hosts.get(url.hostname) ?? false
      const location = first(answer.headers.location)
      if (!isRedirect(answer.statusCode) || location === undefined) {
        const body = options.headersOnly ? discard(answer) : await readBody(answer, url, options)
        return {
          status: answer.statusCode,
          url: url.href,
          header: name => first(answer.headers[name.toLowerCase()]),
          joined: name => [answer.headers[name.toLowerCase()] ?? []].flat().join(', ') || undefined,
          isPrivate,
          body,
        }
      }
      discard(answer)
      if (hop >= maxRedirects) {
        const text = maxRedirects ? `more than ${maxRedirects} redirects` : 'it redirects'
        throw new FetchProblem('redirect', text)
      }
      const next = parseUrl(location, url)
      if (url.protocol === 'https:' && next.protocol === 'http:') {
        throw new FetchProblem('redirect', `it redirects from https to http (${next.host})`)
      }
      if (next.origin !== url.origin) {
        if (options.sameOrigin) throw new FetchProblem('redirect', `it redirects to ${next.host}`)
        headers = withoutCredentials(headers)
      }
      url = next
    }
  } catch (error) {
    options.signal?.throwIfAborted()
    throw toProblem(error, url, timeout.aborted ? timeoutMs : undefined)
  } finally {
    await agent.destroy()
  }
}

const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status)

const first = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value

function parseUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href)
  if (url) return url
  throw new FetchProblem(base ? 'redirect' : 'scheme', base ? 'it redirects to no URL' : 'it is not a URL')
}

function assertAllowed(url: URL, allowed: { allowPrivate: boolean; allowHttp: boolean }): void {
  const { allowPrivate, allowHttp } = allowed
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && allowHttp)) {
    throw new FetchProblem('scheme', `${url.protocol.slice(0, -1)} is not allowed here, only https`)
  }
  if (url.username || url.password) {
    throw new FetchProblem('scheme', 'the address holds a user name or password')
  }
  if (!allowPrivate) assertNotPrivate(url)
}

/** Whether the host is an address that is not public; undefined for a name. */
function isLiteralPrivate({ hostname }: URL): boolean | undefined {
  const host = hostname.replace(/^\[|\]$/g, '')
  return isIP(host) ? publicAddressProblem(host) !== undefined : undefined
}

function withoutCredentials(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(headers).filter(
    ([name]) => !/^(authorization|cookie|proxy-authorization)$/i.test(name),
  )
  return Object.fromEntries(kept)
}

function discard({ body }: Answer): Buffer {
  body.on('error', () => undefined).destroy()
  return Buffer.alloc(0)
}

interface Answer {
  readonly statusCode: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly body: AsyncIterable<Buffer> & { on(event: 'error', then: () => void): { destroy(): unknown } }
}

async function readBody(
  { statusCode, headers, body }: Answer,
  url: URL,
  { maxBytes = 10 * MiB, maxErrorBytes = 4096 }: GuardedRequest,
): Promise<Buffer> {
  const coding = first(headers['content-encoding'])
  const isError = statusCode >= 400
  const tooLarge = () =>
    new FetchProblem('too_large', `the response of ${url.host} is larger than ${formatBytes(maxBytes)}`)
  if (coding && coding !== 'identity') {
    throw new FetchProblem('broken', `${url.host} sends ${coding}, which was not asked for`)
  }
  if (!isError && Number(first(headers['content-length'])) > maxBytes) throw tooLarge()
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    size += chunk.length
    if (isError && size >= maxErrorBytes) break
    if (size > maxBytes) throw tooLarge()
  }
  const whole = Buffer.concat(chunks)
  return isError ? whole.subarray(0, maxErrorBytes) : whole
}

const formatBytes = (bytes: number): string => (bytes >= MiB ? `${bytes / MiB} MiB` : `${bytes} bytes`)
