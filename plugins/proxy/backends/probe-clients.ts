import type { Dispatcher } from 'undici'
import { isResponse, type JsonRpcResponse } from '../../../src/net/json-rpc.ts'
import { isEventStream, readSse, type SseEvent } from '../../../src/net/sse.ts'
import type { ProbeClient } from '../check-candidate.ts'
import { revisionOf } from '../revisions/index.ts'
import type { TargetPath } from './target-path.ts'

export interface ProbeOptions {
  readonly agent: Dispatcher
  readonly target: TargetPath
  readonly signal: AbortSignal
}

/** The most that one response, or a stream up to the response, may hold. */
const MAX_BYTES = 8 * 1024 * 1024
const ASK_TIMEOUT_MS = 10_000

/** Streamable HTTP: a POST per message. The response is a JSON document or an event stream. */
export async function openStreamableProbe({ agent, target, signal }: ProbeOptions): Promise<ProbeClient> {
  const path = target.pathFor('/mcp')
  let session: string | undefined
  let id = 0
  let version = ''
  const send = (method: 'POST' | 'DELETE', message?: { method: string; text: string }) =>
    agent.request({
      origin: target.origin,
      path,
      method,
      signal: AbortSignal.any([signal, AbortSignal.timeout(ASK_TIMEOUT_MS)]),
      headers: {
        accept: 'application/json, text/event-stream',
        ...(message ? { 'content-type': 'application/json' } : {}),
        ...(message?.method === 'initialize' ? {} : { 'mcp-protocol-version': version }),
        ...(message && !revisionOf(version).sessions ? { 'mcp-method': message.method } : {}),
        ...(session === undefined ? {} : { 'mcp-session-id': session }),
      },
      body: message ? message.text : null,
    })
  return {
    async ask(method, paramsText, asked) {
      id += 1
      version = asked
      const { statusCode, headers, body } = await send('POST', {
        method,
        text: request(id, method, paramsText),
      })
      const given = headers['mcp-session-id']
      if (typeof given === 'string') session = given
      if (statusCode === 401 || statusCode === 403) {
        await body.dump()
        return 'credentials'
      }
      const isStream = isEventStream(headers['content-type'])
      const answer = isStream
        ? await fromEvents(readSse(body, { maxBytes: MAX_BYTES }), id)
        : toMessage(await readAll(body))
      body.on('error', () => {}).destroy()
      if (answer) return answer
      throw new Error(`${method} returned status ${statusCode}`)
    },
    async notify(method) {
      const { body } = await send('POST', { method, text: notification(method) })
      await body.dump()
    },
    async close() {
      if (session === undefined) return
      // A server that fails to close the session is left alone.
      await send('DELETE').then(
        ({ body }) => body.dump(),
        () => undefined,
      )
    },
  }
}

/** HTTP+SSE (MCP 2024-11-05): one stream carries all responses; its first event names the endpoint for messages. */
export async function openSseProbe({ agent, target, signal }: ProbeOptions): Promise<ProbeClient> {
  const { statusCode, body: stream } = await agent.request({
    origin: target.origin,
    path: target.pathFor('/sse'),
    method: 'GET',
    headers: { accept: 'text/event-stream' },
    signal,
    bodyTimeout: ASK_TIMEOUT_MS,
  })
  stream.on('error', () => {})
  const wantsCredentials = statusCode === 401 || statusCode === 403
  if (statusCode !== 200 && !wantsCredentials) throw new Error(`GET /sse returned status ${statusCode}`)
  const events = readSse(stream, { maxBytes: MAX_BYTES })
  const first = wantsCredentials ? undefined : await events.next()
  const endpoint = first && !first.done ? URL.parse(first.value.data, `${target.origin}/`) : undefined
  let id = 0
  async function post(body: string): Promise<void> {
    if (!endpoint) throw new Error('its stream does not begin with an endpoint')
    const answer = await agent.request({
      origin: endpoint.origin,
      path: endpoint.pathname + endpoint.search,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(ASK_TIMEOUT_MS)]),
    })
    await answer.body.dump()
    if (answer.statusCode >= 300)
      throw new Error(`the POST of a message returned status ${answer.statusCode}`)
  }
  return {
    async ask(method, paramsText) {
      if (wantsCredentials) return 'credentials'
      id += 1
      await post(request(id, method, paramsText))
      const answer = await fromEvents(events, id)
      if (answer) return answer
      throw new Error(`${method} got no response`)
    },
    notify: async method => (wantsCredentials ? undefined : post(notification(method))),
    async close() {
      stream.destroy()
    },
  }
}

const request = (id: number, method: string, paramsText: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${paramsText}}`

const notification = (method: string): string => JSON.stringify({ jsonrpc: '2.0', method })

async function fromEvents(
  events: AsyncGenerator<SseEvent>,
  id: number,
): Promise<JsonRpcResponse | undefined> {
  // `for await` would end the stream, and further responses are expected on it.
  for (let event = await events.next(); !event.done; event = await events.next()) {
    const message = toMessage(event.value.data)
    if (message?.id === id) return message
  }
  return undefined
}

async function readAll(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > MAX_BYTES) throw new Error('its response is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function toMessage(text: string): JsonRpcResponse | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isResponse(value) ? value : undefined
  } catch {
    return undefined
  }
}
