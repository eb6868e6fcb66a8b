import * as t from 'typanion'
import { FetchProblem, type GuardedResponse, guardedFetch } from '../../../src/net/guarded-fetch.ts'
import { isLoopback } from '../../../src/net/loopback.ts'
import { isSafeEndpoint, type Reach } from './oauth-fetch.ts'

/** What an API says of who may use it (RFC 9728). */
export interface ProtectedResource {
  readonly resource: string
  readonly issuers: readonly string[]
  readonly scopes: readonly string[]
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource'
const texts = t.isOptional(t.isArray(t.isString()))
const metadata = t.isObject(
  { resource: t.isString(), authorization_servers: texts, scopes_supported: texts },
  { extra: t.isUnknown() },
)

/**
 * Asks an API where its tokens come from: at the place that its refusal names, else at the well-known
 * ones. Undefined when it does not say. A document about something else is not believed (section 3.3).
 */
export async function findProtectedResource(
  url: string,
  reach: Reach,
): Promise<ProtectedResource | undefined> {
  const { origin, pathname } = new URL(url)
  const path = pathname.replace(/\/+$/, '')
  const challenge = (await get(url, reach))?.header('www-authenticate')
  const named = /\bresource_metadata\s*=\s*(?:"([^"]*)"|([^\s,]+))/i.exec(challenge ?? '')
  const places = [
    named?.[1] ?? named?.[2],
    ...(path ? [`${origin}${WELL_KNOWN}${path}`] : []),
    `${origin}${WELL_KNOWN}`,
  ].filter(place => place !== undefined)
  for (const place of new Set(places)) {
    const found = read(isSafeEndpoint(place) ? await get(place, reach) : undefined)
    if (found && covers(found.resource, url)) return found
  }
  return undefined
}

async function get(url: string, reach: Reach): Promise<GuardedResponse | undefined> {
  try {
    return await guardedFetch(url, {
      headers: { accept: 'application/json' },
      allowPrivate: reach.allowPrivate,
      allowHttp: isLoopback(new URL(url).hostname) || reach.allowPrivate,
      timeoutMs: reach.timeoutMs,
      maxBytes: 1024 * 1024,
      signal: reach.signal,
    })
  } catch (error) {
    if (error instanceof FetchProblem) return undefined
    throw error
  }
}

function read(answer: GuardedResponse | undefined): ProtectedResource | undefined {
  if (answer?.status !== 200) return undefined
  try {
    const value: unknown = JSON.parse(answer.body.toString('utf8'))
    if (!metadata(value)) return undefined
    const { resource, authorization_servers: issuers = [], scopes_supported: scopes = [] } = value
    return { resource, issuers: issuers.filter(isSafeEndpoint), scopes }
  } catch {
    return undefined
  }
}

/** Whether the resource is the URL or a folder above it. */
function covers(resource: string, url: string): boolean {
  const [whole, part] = [URL.parse(resource), new URL(url)]
  if (whole?.origin !== part.origin) return false
  const folder = whole.pathname.replace(/\/*$/, '/')
  return `${part.pathname}/`.startsWith(folder)
}
