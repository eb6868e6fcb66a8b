import type { Dispatcher } from 'undici'
import { SERVER_ERROR } from '../../../src/net/rpc-error-codes.ts'
import { errorText, idKey, readMessage } from '../../../src/net/rpc-message.ts'
import { isEventStream as namesEventStream, type RawSseEvent, readRawSse } from '../../../src/net/sse.ts'

/** The largest message of a workload, in bytes. The bridge of a stdio server takes no longer ones either. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024
const MAX_ERROR_BYTES = 1024 * 1024
const SHOWN = 300
/** The shortest wait before a stream is opened again, in milliseconds, whatever the server asks for. */
export const LEAST_PAUSE_MS = 100

export const isEventStream = ({ headers }: Dispatcher.ResponseData): boolean =>
  namesEventStream(headers['content-type'])

export const isSuccess = ({ statusCode }: Dispatcher.ResponseData): boolean =>
  statusCode >= 200 && statusCode < 300

/** The events of a response. A JSON body is one event. Throws when the connection breaks. */
export async function* eventsOf(response: Dispatcher.ResponseData): AsyncGenerator<RawSseEvent> {
  if (isEventStream(response)) {
    yield* readRawSse(response.body, { maxBytes: MAX_MESSAGE_BYTES })
    return
  }
  const text = await readText(response, MAX_MESSAGE_BYTES)
  if (text.trim() !== '') yield { type: undefined, data: text, id: undefined, retry: undefined }
}

async function readText({ body }: Dispatcher.ResponseData, maxBytes: number): Promise<string> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of body as AsyncIterable<Buffer>) {
    length += part.length
    if (length > maxBytes) throw new Error(`the workload sent more than ${maxBytes} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('latin1')
}

/** The error response for a request that the workload refused with an HTTP status. */
export async function refusalText(idText: string, response: Dispatcher.ResponseData): Promise<string> {
  const body = await readText(response, MAX_ERROR_BYTES).catch(() => '')
  const message = readMessage(body)
  if (message?.kind === 'response' && message.error) {
    if (message.idText !== undefined && idKey(message.idText) === idKey(idText)) return body
    const error = body.slice(message.error.start, message.error.end)
    return `{"jsonrpc":"2.0","id":${idText},"error":${error}}`
  }
  const isText = /^text\/plain\b/i.test(String(response.headers['content-type'] ?? ''))
  const detail = isText ? `: ${Buffer.from(body, 'latin1').toString('utf8').trim().slice(0, SHOWN)}` : ''
  return errorText(idText, SERVER_ERROR, `The workload responded with HTTP ${response.statusCode}${detail}`)
}

/** A short text about a refusal, for the log. */
export async function describeRefusal(response: Dispatcher.ResponseData): Promise<string> {
  const body = await readText(response, MAX_ERROR_BYTES).catch(() => '')
  return `HTTP ${response.statusCode} ${Buffer.from(body, 'latin1').toString('utf8').trim().slice(0, SHOWN)}`.trim()
}
