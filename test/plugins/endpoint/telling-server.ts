import type { IncomingHttpHeaders } from 'node:http'
import { json } from 'node:stream/consumers'
import { testServer } from '../proxy/test-proxy.ts'

const TOOLS = ['whoami', 'pay'].map(name => ({ name, inputSchema: { type: 'object' } }))
const GREETING = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'telling', version: '1' },
}

/** A server without sessions whose tools return the header `Authorization` of their call. */
export async function tellingServer(): Promise<{ url: string; seen: IncomingHttpHeaders[] }> {
  const seen: IncomingHttpHeaders[] = []
  const origin = await testServer(async (request, response) => {
    seen.push(request.headers)
    if (request.method !== 'POST') return response.writeHead(405).end()
    const { id, method } = (await json(request)) as { id?: unknown; method: string }
    if (id === undefined) return response.writeHead(202).end()
    const text = request.headers.authorization ?? 'nothing'
    const results: Readonly<Record<string, unknown>> = {
      initialize: GREETING,
      'tools/list': { tools: TOOLS },
      'tools/call': { content: [{ type: 'text', text }] },
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} }))
  })
  return { url: `${origin}/mcp`, seen }
}
