import type { ServerResponse } from 'node:http'
import { LATE_MESSAGE, SERVER_ERROR } from '../../../../src/net/rpc-error-codes.ts'
import { errorText } from '../../../../src/net/rpc-message.ts'
import { type Refusal, unavailable } from '../../request-refusal.ts'
import type { CallFailure } from '../calls/call.ts'

const JSON_TYPE = { 'content-type': 'application/json' } as const

/** Sends raw text (see raw-json.ts) as a whole JSON response. */
export function sendJson(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent || response.destroyed) return
  const body = Buffer.from(text, 'latin1')
  response.writeHead(status, { ...JSON_TYPE, 'content-length': body.length, ...headers })
  response.end(body)
}

/** Too many requests wait for the server: of this caller, or in all. The client should try again. */
export const BUSY =
  'Too many requests are waiting: one caller may have at most as many as are still free. Wait for responses, then try again'

export const busyRefusal = (idText: string | undefined): Refusal => unavailable(BUSY, { idText })

/** Sends a response without content: 202 for a message that was accepted, 204 for a finished operation. */
export function sendEmpty(response: ServerResponse, status: 202 | 204): void {
  if (response.headersSent || response.destroyed) return
  response.writeHead(status, status === 202 ? { 'content-length': 0 } : {}).end()
}

/** Status and message of each failure. */
export const FAILURE_TEXT: Readonly<Record<CallFailure, { status: number; message: string }>> = {
  timeout: { status: 504, message: LATE_MESSAGE },
  gone: { status: 502, message: 'The server ended before it responded' },
  oversize: { status: 502, message: "The server's response was too long" },
  cancelled: { status: 200, message: 'The request was cancelled' },
}

export const failureText = (idText: string, failure: CallFailure): string =>
  errorText(idText, SERVER_ERROR, FAILURE_TEXT[failure].message)
