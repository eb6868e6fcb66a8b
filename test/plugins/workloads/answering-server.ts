import { testServer } from '../proxy/test-proxy.ts'

/** A server that accepts `initialize` and returns its URL. */
export const answering = (): Promise<string> =>
  testServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { id } = JSON.parse(text || '{}')
    if (id === undefined) return void response.writeHead(request.method === 'GET' ? 405 : 202).end()
    const serverInfo = { name: 'n', version: '1' }
    const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo }
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
