import type { IncomingHttpHeaders } from 'node:http'
import { onOneLine } from '../../../src/net/rpc-message.ts'
import { isEventStream, readRawSse } from '../../../src/net/sse.ts'
import type { ServerResponse } from './dispatch.ts'
import type { ResponseBody } from './response-body.ts'

/** The most that is read of the body of an error. */
const MAX_ERROR_BYTES = 64 * 1024

/** A message in a response, raw, and where to resume the stream that it came on. */
export interface ResponseLine {
  /** On one line; undefined for an event without a message. */
  readonly text: string | undefined
  readonly id: string | undefined
  /** Milliseconds to wait before the stream is resumed. */
  readonly retry: number | undefined
}

/** The messages in a response, which is a JSON document or an event stream. Throws when one is too long. */
export async function* linesIn(
  { headers, body }: { headers: IncomingHttpHeaders; body: AsyncIterable<Buffer> | ResponseBody },
  { maxBytes }: { maxBytes: number },
): AsyncGenerator<ResponseLine> {
  if (isEventStream(headers['content-type'])) {
    for await (const { data, id, retry } of readRawSse(body, { maxBytes })) {
      yield { text: data?.trim() ? onOneLine(data) : undefined, id, retry }
    }
    return
  }
  const text = await ('text' in body ? body.text(maxBytes) : readText(body, maxBytes))
  if (text.trim()) yield { text: onOneLine(text), id: undefined, retry: undefined }
}

/** A response of a server that wants other credentials. */
export interface LoginWanted {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The body of an error, raw; nothing of one that is too long. */
export const errorBody = ({ body }: ServerResponse): Promise<string> =>
  body.text(MAX_ERROR_BYTES).catch(() => '')

/** What such a response says; undefined for another one. `body` is its body, raw. */
export function loginWanted(
  { statusCode: status, headers }: ServerResponse,
  body: string,
): LoginWanted | undefined {
  if (status !== 401 && status !== 403) return undefined
  const names = ['content-type', 'www-authenticate']
  const kept = names.flatMap(name =>
    headers[name] === undefined ? [] : [[name, [headers[name]].flat().join(', ')]],
  )
  return { status, headers: Object.fromEntries(kept), body }
}

async function readText(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new Error(`it sent a response of more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('latin1')
}
