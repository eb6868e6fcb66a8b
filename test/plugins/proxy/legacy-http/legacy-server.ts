import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** A request that the server got. */
export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever is there
  readonly message: any
}

/** A server of streamable HTTP of 2025-11-25 with sessions, whose tool asks its client. */
export async function startLegacyServer(
  options: { token?: string; respond?: (seen: Seen, response: ServerResponse) => boolean } = {},
) {
  const seen: Seen[] = []
  const sessions = new Set<string>()
  const waiting = new Map<string, (answer: unknown) => void>()

  /** Of calls that ask after the next one. */
  const held: (() => void)[] = []

  function take(one: Seen, response: ServerResponse): void {
    const { message, headers } = one
    const { id, method } = message
    const session = String(headers['mcp-session-id'] ?? '')
    const json = (body: unknown, more = {}) =>
      response.writeHead(200, { 'content-type': 'application/json', ...more }).end(JSON.stringify(body))
    const result = (value: unknown, more = {}) => json({ jsonrpc: '2.0', id, result: value }, more)
    if (method === 'initialize') {
      const opened = randomUUID()
      sessions.add(opened)
      const serverInfo = { name: 'legacy', version: '1' }
      const capabilities = { tools: { listChanged: true }, logging: {} }
      return void result(
        { protocolVersion: '2025-06-18', capabilities, serverInfo },
        { 'mcp-session-id': opened },
      )
    }
    if (!sessions.has(session)) return void response.writeHead(session ? 404 : 400).end('no session')
    if (method === undefined) {
      waiting.get(`${session} ${id}`)?.(message.result)
      return void response.writeHead(202).end()
    }
    if (id === undefined) return void response.writeHead(202).end()
    if (method === 'tools/list') return void result({ tools: [{ name: session }] })
    if (message.params?.name !== 'ask') return void result({ content: [{ type: 'text', text: session }] })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (value: unknown) => response.write(`data: ${JSON.stringify(value)}\n\n`)
    waiting.set(`${session} asked-${id}`, answer => {
      send({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: JSON.stringify(answer) }] } })
      response.end()
    })
    const about = message.params.arguments?.n
    const params = { message: `Who? ${about}`, requestedSchema: { type: 'object', properties: {} } }
    const asking = () => {
      send({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: about } })
      send({ jsonrpc: '2.0', id: `asked-${id}`, method: 'elicitation/create', params })
      held.shift()?.()
    }
    if (message.params.arguments?.last) held.push(asking)
    else asking()
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const one = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        message: body ? JSON.parse(body) : {},
      }
      seen.push(one)
      if (options.token !== undefined && request.headers.authorization !== `Bearer ${options.token}`) {
        const challenge = 'Bearer resource_metadata="https://a.example/meta"'
        return void response.writeHead(401, { 'www-authenticate': challenge }).end('log in')
      }
      if (options.respond?.(one, response)) return
      if (request.method !== 'POST') return void response.writeHead(405).end()
      take(one, response)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  onTestFinished(close)
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    sessions,
    close,
    received: (method: string) => seen.filter(({ message }) => message.method === method),
  }
}
