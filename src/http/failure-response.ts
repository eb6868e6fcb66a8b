import { isFailure, messageOf } from '../errors.ts'
import { printable, printableJson } from '../lib/printable.ts'
import { redact } from '../lib/redact.ts'
import type { FailureStyle } from './api.ts'

/** A failure as it is sent. */
export interface FailureResponse {
  readonly status: number
  readonly type: string
  readonly body: string
}

const TEXT = 'text/plain; charset=utf-8'
const JSON_TYPE = 'application/json'

/** Codes that clients of the registry look at; everything else they tell by the status. */
const REGISTRY_CODES: ReadonlySet<string> = new Set([
  'registry_auth_required',
  'registry_unavailable',
  'registry_legacy_format',
])

/** Not from `node:http`: to import that loads the whole of fetch. */
const UNTOLD: Readonly<Record<number, string>> = { 501: 'Not Implemented' }

const GENERAL_CODES: Readonly<Record<number, string>> = { 400: 'bad_request', 404: 'not_found' }

/**
 * Turns what was thrown into a response. A failure with `extra` members is JSON in every style. Anything that is
 * not a Failure is a bug: 500 without details. Our own failures with that status are treated the same, since
 * their texts are for the person at the machine. Foreign text cannot steer the terminal of a client.
 */
export function toFailureResponse(error: unknown, style: FailureStyle): FailureResponse {
  const status = statusOf(error)
  const known = isFailure(error) && REGISTRY_CODES.has(error.code)
  const message = messageFor(error, status)
  if (isFailure(error) && error.extra) {
    return {
      status,
      type: JSON_TYPE,
      body: toJson({ code: error.code, message, ...error.extra }),
    }
  }
  if (style === 'text' || (style === 'registry' && !known)) {
    return { status, type: TEXT, body: `${printable(message)}\n` }
  }
  const code = known
    ? error.code
    : (GENERAL_CODES[status] ?? (status < 500 ? 'bad_request' : 'internal_error'))
  return { status, type: JSON_TYPE, body: toJson({ code, message }) }
}

const toJson = (value: unknown): string => `${printableJson(JSON.stringify(value))}\n`

function statusOf(error: unknown): number {
  if (isFailure(error)) return error.status
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined
  return typeof status === 'number' && status >= 400 && status < 500 ? status : 500
}

function messageFor(error: unknown, status: number): string {
  const isTold = status < 500 || status === 502 || status === 503 || status === 504
  if (status === 413 && !isFailure(error)) return 'Request Entity Too Large'
  if (status === 414 && !isFailure(error)) return 'URI Too Long'
  return isTold ? redact(messageOf(error)) : (UNTOLD[status] ?? 'Internal Server Error')
}
