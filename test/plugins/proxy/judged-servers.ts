import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { onTestFinished } from 'vitest'
import type { Exchange } from '../../../src/contracts/pipeline.ts'
import type { Attachment } from '../../../src/contracts/runtime.ts'

/** Headers that a server may go by in place of the body. */
const TELLING = ['mcp-method', 'mcp-name', 'content-type', 'content-encoding']

const toText = (parts: readonly unknown[], body: Buffer): string =>
  JSON.stringify([...parts, body.length, createHash('sha256').update(body).digest('hex')])

/** A request as it was judged; equal to that of `httpRecorder` when the server has got the same. */
export async function judged(exchange: Exchange, hasBody: boolean): Promise<string> {
  const { request, ownHeaders } = exchange
  const headers = TELLING.map(name => (ownHeaders?.has(name) ? ownHeaders.get(name) : request.headers[name]))
  const body = hasBody ? await exchange.body() : Buffer.alloc(0)
  return toText([request.method, exchange.url, ...headers.map(value => value ?? null)], body)
}

/** A server that speaks HTTP, or HTTP with SSE below `/sse`, and notes each request. */
export async function httpRecorder(): Promise<{ origin: string; received: string[] }> {
  const received: string[] = []
  /** By the session that their endpoint names. */
  const streams = new Map<string, ServerResponse>()
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await request.toArray())
    const headers = TELLING.map(name => request.headers[name] ?? null)
    if (!isOwn(request, body)) received.push(toText([request.method, request.url, ...headers], body))
    const { method, url = '' } = request
    if (method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      if (url.startsWith('/sse')) {
        const session = String(streams.size)
        streams.set(session, response)
        return void response.write(`event: endpoint\ndata: /messages?s=${session}\n\n`)
      }
      return void response.end('data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n')
    }
    const isLegacy = url.startsWith('/messages')
    const [, id] = /"id":(\d+)/.exec(`${body}`) ?? []
    const stream = streams.get(/[?&]s=(\d+)/.exec(url)?.[1] ?? '')
    if (isLegacy && id) stream?.write(`event: message\ndata: {"jsonrpc":"2.0","id":${id},"result":{}}\n\n`)
    response.writeHead(isLegacy ? 202 : 200, { 'content-type': 'application/json' })
    response.end(isLegacy ? '' : '{"jsonrpc":"2.0","id":7,"result":{}}')
  }
  const server = createServer((request, response) => void handle(request, response).catch(() => {}))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

/** Whether it may be a question of the proxy's own about the tools of the server; these are no calls. */
function isOwn({ method, url }: IncomingMessage, body: Buffer): boolean {
  // Its own stream looks like that of a client. No stage judges it, so that later ones may change it.
  if (method === 'GET' && /^\/sse(\?by=\d)?$/.test(url ?? '')) return true
  try {
    return ['initialize', 'notifications/initialized', 'tools/list'].includes(JSON.parse(`${body}`).method)
  } catch {
    return false
  }
}

/** A stdio server that responds to each request, and notes each line. */
export function stdioRecorder(): { attachment: Attachment; received: string[] } {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const received: string[] = []
  let rest = ''
  stdin.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString('latin1')).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const { id, method } = JSON.parse(line)
      received.push(line)
      const result = method === 'initialize' ? INITIALIZED : {}
      if (id !== undefined) stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
    }
  })
  const attachment = { stdin, stdout, stderr, exit: new Promise<never>(() => {}), detach: () => {} }
  return { attachment, received }
}

const INITIALIZED = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  serverInfo: { name: 'recorder', version: '1' },
}

/** What a stdio server gets is one line, with an id of the bridge's own; all else is as it was judged. */
export const withoutId = (text: string): string =>
  text.replaceAll(/[\r\n]+/g, ' ').replace(/"id":(?:"[^"]*"|\d+)/, '"id":0')
