import { createSingleFlight } from '../../../src/lib/single-flight.ts'
import { FetchProblem } from '../../../src/net/fetch-problem.ts'
import { guardedFetch } from '../../../src/net/guarded-fetch.ts'
import { noRoom, OAuthError } from '../protocol/oauth-error.ts'
import type { ServerSettings } from '../settings.ts'
import type { Client, FindClient } from './client.ts'
import { documentUrlProblem } from './document-url.ts'
import { type AddressOf, createFloodLimit } from './flood-limit.ts'
import { readClientDocument } from './read-client-document.ts'

const MAX_BYTES = 10 * 1024
const TIMEOUT_MS = 5000
const RATES = { each: { perSecond: 0.5, burst: 10 }, all: { perSecond: 5, burst: 50 } }

/**
 * Finds clients whose identifier is the URL of a document that describes them (OAuth Client ID Metadata Document).
 * The document is fetched from public addresses only, without redirects, and kept for a while. Strangers choose the
 * URL, so few are fetched in a second for one address, and for all. Fails with `invalid_client`.
 */
export function createClientDocuments(
  settings: ServerSettings,
  { addressOf, now }: { addressOf: AddressOf; now: () => number },
): FindClient {
  const { most, lifetimeMs, allowLoopback } = settings.clientDocuments
  const kept = new Map<string, { client: Client; until: number }>()
  const flights = createSingleFlight<Client>()
  const limit = createFloodLimit({ ...RATES, addressOf, now })

  async function fetchClient(url: string): Promise<Client> {
    const client = readClientDocument(await fetchDocument(url, allowLoopback), url, { settings, now: now() })
    kept.set(url, { client, until: now() + lifetimeMs })
    const [oldest] = kept.keys()
    if (kept.size > most && oldest !== undefined) kept.delete(oldest)
    return client
  }

  return async (url, request) => {
    const found = kept.get(url)
    if (found && found.until > now()) return found.client
    kept.delete(url)
    const problem = documentUrlProblem(url, { allowLoopback })
    if (problem !== undefined) throw invalid(`The client identifier ${problem}.`)
    return flights.run(url, async () => {
      if (limit(request) !== undefined) throw noRoom('new clients')
      return fetchClient(url)
    })
  }
}

const invalid = (description: string) => new OAuthError('invalid_client', description)

/** What went wrong in detail is not said: it would tell strangers about the network here. */
async function fetchDocument(url: string, allowLoopback: boolean): Promise<string> {
  try {
    const isLocal = allowLoopback && url.startsWith('http:')
    const { status, body, header } = await guardedFetch(url, {
      headers: { accept: 'application/json' },
      ...{ allowPrivate: isLocal, allowHttp: isLocal, maxRedirects: 0 },
      ...{ timeoutMs: TIMEOUT_MS, stepTimeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES },
    })
    const type = header('content-type') ?? ''
    if (status === 200 && /^application\/(?:[a-z0-9.-]+\+)?json\s*(?:;|$)/i.test(type))
      return body.toString('utf8')
  } catch (error) {
    if (!(error instanceof FetchProblem)) throw error
  }
  throw invalid('The document that describes the client cannot be fetched.')
}
