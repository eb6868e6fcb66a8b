import { createHmac } from 'node:crypto'
import { Pool } from 'undici'
import { messageOf } from '../../src/errors.ts'
import { clean } from '../../src/lib/printable.ts'
import { toProblem } from '../../src/net/fetch-problem.ts'
import { guardedLookup } from '../../src/net/guarded-lookup.ts'
import type { WebhookSettings } from './webhook-settings.ts'

/** What a webhook responded with. */
export type WebhookReply =
  /** Status 200 and its body. */
  | { readonly kind: 'answer'; readonly body: Buffer }
  /** Status 422: whatever its failure policy, the message is denied. */
  | { readonly kind: 'unprocessable' }
  | { readonly kind: 'failed'; readonly problem: string }

export interface WebhookClient {
  /** Sends a body, and once more where a kept connection turns out to be closed. Throws only when aborted. */
  send(body: Buffer, signal: AbortSignal): Promise<WebhookReply>
  close(): Promise<void>
}

export const MAX_RESPONSE_BYTES = 1024 * 1024
const CONNECTIONS = 64
/** Of a response that is not read; a connection with more to come is closed. */
const DISCARDED_BYTES = 16 * 1024

/** Makes a client that keeps its connections. Redirects are not followed. */
export function createWebhookClient(settings: WebhookSettings): WebhookClient {
  const { url, timeoutMs, mayBePrivate, tls } = settings
  const pool = new Pool(url.origin, {
    connections: CONNECTIONS,
    allowH2: false,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { lookup: guardedLookup(mayBePrivate), timeout: timeoutMs, minVersion: 'TLSv1.2', ...tls },
  })

  async function post(body: Buffer, signal: AbortSignal): Promise<WebhookReply> {
    const secret = await settings.secret?.()
    const response = await pool.request({
      method: 'POST',
      path: url.pathname + url.search,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'accept-encoding': 'identity',
        ...(secret ? signatureOf(secret, body) : {}),
      },
      body,
      signal,
    })
    if (response.statusCode === 200) return readAnswer(response)
    void response.body.dump({ limit: DISCARDED_BYTES }).catch(() => undefined)
    if (response.statusCode === 422) return { kind: 'unprocessable' }
    return failed(`it responds with ${response.statusCode}`)
  }

  return {
    async send(body, aborted) {
      const timeout = AbortSignal.timeout(timeoutMs)
      const signal = AbortSignal.any([timeout, aborted])
      const attempt = () => post(body, signal)
      try {
        return await attempt().catch(error => {
          if (signal.aborted || !isClosed(error)) throw error
          return attempt()
        })
      } catch (error) {
        aborted.throwIfAborted()
        return failed(toProblem(error, url, timeout.aborted ? timeoutMs : undefined).message)
      }
    },
    close: () => pool.destroy(),
  }
}

const failed = (problem: string): WebhookReply => ({ kind: 'failed', problem: clean(problem).slice(0, 300) })

/** HMAC-SHA256 over the time, a dot and the body; the names of the headers are ToolHive's. */
function signatureOf(secret: Buffer, body: Buffer): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const digest = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')
  return { 'X-ToolHive-Signature': `sha256=${digest}`, 'X-ToolHive-Timestamp': timestamp }
}

type Response = Awaited<ReturnType<Pool['request']>>

/** Reads what was sent, as it arrives: the length in its header is not relied on. */
async function readAnswer({ headers, body }: Response): Promise<WebhookReply> {
  const coding = headers['content-encoding']
  if (coding !== undefined && coding !== 'identity') {
    body.on('error', () => undefined).destroy()
    return failed(`it sends ${String(coding)}, which was not asked for`)
  }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    // Leaving the loop destroys the body, and its connection.
    if (size > MAX_RESPONSE_BYTES) return failed('its response is larger than 1 MiB')
    chunks.push(chunk)
  }
  return { kind: 'answer', body: Buffer.concat(chunks) }
}

/** Whether the connection was closed before a response began. */
function isClosed(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return (
    code === 'UND_ERR_SOCKET' ||
    code === 'ECONNRESET' ||
    code === 'EPIPE' ||
    /other side closed/.test(messageOf(error))
  )
}
