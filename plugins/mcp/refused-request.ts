import { isObject } from '../../src/lib/is-object.ts'
import { parseObject } from '../../src/lib/parse-object.ts'

/** A response that says why nothing came of a request, where the SDK would keep the status alone. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest'
  readonly status: number
  /** Of the JSON-RPC error in the body, if there is one. */
  readonly code: number | undefined
  /** When it may be tried again, in seconds (`Retry-After`, RFC 9110, section 10.2.3). */
  readonly retrySeconds: number | undefined

  constructor(
    status: number,
    { code, message, retrySeconds }: { code?: number; message?: string; retrySeconds?: number },
  ) {
    super(message ?? `HTTP ${status}`)
    this.status = status
    this.code = code
    this.retrySeconds = retrySeconds
  }
}

/** As `fetch`. Fails with `RefusedRequest` for 429, and for 403 and 504 with a JSON-RPC error. */
export const fetchOrRefuse: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  const { status } = response
  if (status === 429) {
    await response.body?.cancel()
    throw new RefusedRequest(status, readRetryAfter(response.headers.get('retry-after')))
  }
  if (status !== 403 && status !== 504) return response
  const error = parseObject(await response.clone().text())?.error
  if (!isObject(error) || typeof error.code !== 'number') return response
  await response.body?.cancel()
  throw new RefusedRequest(status, { code: error.code, message: String(error.message) })
}

/** Dates are left out: nobody wants to compare clocks. */
const readRetryAfter = (text: string | null): { retrySeconds?: number } =>
  text !== null && /^\d{1,9}$/.test(text) ? { retrySeconds: Number(text) } : {}
