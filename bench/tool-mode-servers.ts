// MCP servers of 2025-11-25, one at each path `/NAME/mcp`, each with 100 tools of a domain of its own. Prints the port.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { DOMAINS, toolsOf } from './tool-mode-tools.ts'

const RESULT = { content: [{ type: 'text', text: 'The record has been processed as asked. '.repeat(20) }] }

const server = createServer(async (request, response) => {
  if (request.method === 'GET')
    return response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
  if (request.method !== 'POST') return response.writeHead(200).end()
  const { id, method } = (await json(request)) as { id?: unknown; method: string }
  if (id === undefined) return response.writeHead(202).end()
  const domain = request.url?.split('/')[1] ?? ''
  const results: Readonly<Record<string, unknown>> = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: domain, version: '1' },
    },
    'tools/list': { tools: toolsOf(domain, DOMAINS[domain] ?? []) },
    'tools/call': RESULT,
  }
  response.writeHead(200, {
    'content-type': 'application/json',
    ...(method === 'initialize' ? { 'mcp-session-id': randomUUID() } : {}),
  })
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} }))
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
