// MCP servers of 2025-11-25, one at each path `/N/mcp`, with the number of tools given as argument. Prints the port.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

const tools = Array.from({ length: Number(process.argv[2]) }, (_, index) => ({
  name: `tool_${index}`,
  title: `Tool ${index}`,
  description: `Looks up things of the kind ${index} by their name, and returns all that is known of them.`,
  inputSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', description: 'The name of the thing.' },
      limit: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
    },
    required: ['name'],
  },
  annotations: { readOnlyHint: true },
}))
const RESULTS: Readonly<Record<string, unknown>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'bench', version: '1' },
  },
  'tools/list': { tools },
  'tools/call': { content: [{ type: 'text', text: 'x'.repeat(950) }] },
}

const server = createServer(async (request, response) => {
  if (request.method === 'GET')
    return response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
  if (request.method !== 'POST') return response.writeHead(200).end()
  const { id, method } = (await json(request)) as { id?: unknown; method: string }
  if (id === undefined) return response.writeHead(202).end()
  response.writeHead(200, {
    'content-type': 'application/json',
    ...(method === 'initialize' ? { 'mcp-session-id': randomUUID() } : {}),
  })
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result: RESULTS[method] ?? {} }))
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
