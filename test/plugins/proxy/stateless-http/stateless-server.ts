import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** A request that the server got. */
export interface Seen {
  readonly url: string
  readonly headers: IncomingMessage['headers']
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever is there
  readonly message: any
  /** Whether the client has ended the connection before the response. */
  isCancelled: boolean
}

const TOOLS = [
  { name: 'plain', inputSchema: { type: 'object' } },
  {
    name: 'place',
    inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
  },
]
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
}

/** A server of MCP 2026-07-28 over HTTP which is strict about headers. `respond` is asked first. */
export async function startStatelessServer(
  options: { port?: number; respond?: (seen: Seen, response: ServerResponse) => boolean | undefined } = {},
) {
  const seen: Seen[] = []

  function take(one: Seen, response: ServerResponse): void {
    const { message, headers } = one
    const { id, method, params } = message
    const json = (status: number, body: object) =>
      response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, ...body }))
    const fail = (status: number, code: number, text: string) =>
      json(status, { error: { code, message: text } })
    const result = (value: object) => json(200, { result: { resultType: 'complete', ...value } })
    const said = (text: unknown) => result({ content: [{ type: 'text', text: String(text) }] })
    if (headers['mcp-protocol-version'] !== '2026-07-28') return void fail(400, -32022, 'Unsupported version')
    const name = NAMED[method] === undefined ? undefined : params[NAMED[method]]
    const problem = [
      headers['mcp-method'] === method ? '' : 'Mcp-Method',
      name === undefined || decoded(headers['mcp-name']) === name ? '' : 'Mcp-Name',
      name !== 'place' || decoded(headers['mcp-param-region']) === params.arguments.region ? '' : 'Region',
    ].join('')
    if (problem) return void fail(400, -32020, `Header mismatch: ${problem}`)
    switch (method) {
      case 'server/discover':
        return void result({
          supportedVersions: ['2026-07-28'],
          capabilities: { tools: { listChanged: true } },
        })
      case 'tools/list':
        return void result({ tools: TOOLS })
      case 'tools/call':
        return void said(headers.authorization ?? 'nobody')
      case 'subscriptions/listen': {
        const _meta = { 'io.modelcontextprotocol/subscriptionId': id }
        const acknowledged = 'notifications/subscriptions/acknowledged'
        const body = {
          jsonrpc: '2.0',
          method: acknowledged,
          params: { notifications: params.notifications, _meta },
        }
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        return void response.write(`data: ${JSON.stringify(body)}\n\n`)
      }
      default:
        return void fail(404, -32601, 'Method not found')
    }
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      if (request.method !== 'POST') return void response.writeHead(405).end()
      const message = JSON.parse(Buffer.concat(chunks).toString())
      const one: Seen = { url: request.url ?? '', headers: request.headers, message, isCancelled: false }
      response.once('close', () => {
        one.isCancelled = !response.writableFinished
      })
      seen.push(one)
      if (!options.respond?.(one, response)) take(one, response)
    })
  })
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  onTestFinished(close)
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close,
    received: (method: string) => seen.filter(({ message }) => message.method === method),
  }
}

function decoded(value: unknown): string | undefined {
  const [, base64] = /^=\?base64\?(.*)\?=$/.exec(String(value)) ?? []
  return base64 === undefined ? (value as string | undefined) : Buffer.from(base64, 'base64').toString()
}
