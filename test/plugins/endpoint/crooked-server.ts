import { createServer, type Server } from 'node:http'
import { json } from 'node:stream/consumers'

/** `crashes`: in each call. `lies`: in all that it lists. */
export type Behaviour = 'well' | 'crashes' | 'lies'

/** A server of 2025-11-25 without sessions, whose one tool is `say`. */
export function startCrooked(): { readonly server: Server; behave(how: Behaviour): void } {
  let behaviour: Behaviour = 'well'
  const tools = [{ name: 'say', description: 'Says something', inputSchema: { type: 'object' } }]

  function resultOf(method: string): unknown {
    if (method === 'initialize') {
      const serverInfo = { name: 'crooked', version: '1' }
      return { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo }
    }
    if (method === 'tools/list') return { tools: behaviour === 'lies' ? 'all of them' : tools }
    return method === 'tools/call' ? { content: [{ type: 'text', text: 'said' }] } : {}
  }

  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return response.writeHead(405).end()
    const { id, method } = (await json(request)) as { id?: unknown; method: string }
    if (behaviour === 'crashes' && method === 'tools/call') return request.socket.destroy()
    if (id === undefined) return response.writeHead(202).end()
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: resultOf(method) }))
  })
  return {
    server,
    behave(how) {
      behaviour = how
    },
  }
}
