import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'

const agent = new Agent({ keepAlive: true, maxSockets: 32 })

/** One client of MCP 2025-11-25 that has a session at a port. */
export interface BenchClient {
  /** Returns the text of the response, and the milliseconds until it was there. Fails on errors. */
  ask(method: string, params?: unknown): Promise<{ text: string; ms: number }>
}

export async function connect(port: number): Promise<BenchClient & { readonly ms: number }> {
  let session: string | undefined
  let id = 0

  async function post(body: object): Promise<{ text: string; ms: number }> {
    const began = performance.now()
    const outgoing = request({
      ...{ port, host: '127.0.0.1', path: '/mcp', method: 'POST', agent },
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session === undefined ? {} : { 'mcp-session-id': session }),
      },
    })
    outgoing.end(JSON.stringify({ jsonrpc: '2.0', ...body }))
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
    session ??= String(response.headers['mcp-session-id'])
    const found = await text(response)
    const ms = performance.now() - began
    if ((response.statusCode ?? 500) >= 300 || /"error":/.test(found.slice(0, 100))) throw new Error(found)
    return { text: found, ms }
  }

  function ask(method: string, params: unknown = {}): Promise<{ text: string; ms: number }> {
    id += 1
    return post({ id, method, params })
  }

  const clientInfo = { name: 'bench', version: '1' }
  const { ms } = await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
  await post({ method: 'notifications/initialized' })
  return { ask, ms }
}
