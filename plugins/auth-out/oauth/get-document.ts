import { parseObject } from '../../../src/lib/parse-object.ts'
import { FetchProblem } from '../../../src/net/fetch-problem.ts'
import { type GuardedResponse, guardedFetch } from '../../../src/net/guarded-fetch.ts'
import { isLoopback } from '../../../src/net/loopback.ts'
import type { Reach } from './types.ts'

export const RESPONSE_MS = 10_000
export const MOST_BYTES = 1024 * 1024

/** Where a request may lead. */
export interface Access {
  readonly mayBePrivate: boolean
  /** The user named this place: it may be private and, if they wrote so, http; but it may not redirect elsewhere. */
  readonly isNamed?: boolean | undefined
}

/** A JSON object, and whether it came from a private address. */
export interface Document {
  readonly url: string
  readonly value: Readonly<Record<string, unknown>>
  readonly isPrivate: boolean
}

/** Why there is no document: none is there, what is there is refused, or another time it may be there. */
export interface NoDocument {
  readonly url: string
  readonly problem: string
  readonly kind: 'missing' | 'refused' | 'unreachable'
}

/** Reads a metadata document, without credentials. Throws only when aborted. */
export async function getDocument(
  url: string,
  { mayBePrivate, isNamed = false }: Access,
  reach: Omit<Reach, 'target'>,
): Promise<Document | NoDocument> {
  const none = (kind: NoDocument['kind'], problem: string): NoDocument => ({ url, problem, kind })
  let response: GuardedResponse
  try {
    const { timeoutMs = RESPONSE_MS, ca, signal } = reach
    response = await guardedFetch(url, {
      headers: { accept: 'application/json' },
      allowPrivate: mayBePrivate || isNamed,
      allowHttp: isNamed || isLoopback(URL.parse(url)?.hostname ?? ''),
      sameOrigin: isNamed,
      timeoutMs,
      stepTimeoutMs: timeoutMs,
      maxBytes: MOST_BYTES,
      ca,
      signal,
    })
  } catch (error) {
    if (!(error instanceof FetchProblem)) throw error
    const isRefused = ['private', 'scheme', 'redirect', 'too_large'].includes(error.kind)
    return none(isRefused ? 'refused' : 'unreachable', error.message)
  }
  const { status, body, isPrivate } = response
  if (status !== 200) {
    return none(status >= 500 || status === 429 ? 'unreachable' : 'missing', `it responds with ${status}`)
  }
  const value = parseObject(body.toString('utf8'))
  return value
    ? { url, value, isPrivate }
    : none('missing', 'it responds with something other than a JSON object')
}
