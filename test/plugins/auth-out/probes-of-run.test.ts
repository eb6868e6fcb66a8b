import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { testServer } from '../proxy/test-proxy.ts'
import { testHome } from './guarded-server.ts'

test('run initialises a server without a login twice: for the login, and to see whether it responds', {
  timeout: 120_000,
}, async () => {
  const methods: string[] = []
  const origin = await testServer(async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const { id, method, params } = JSON.parse(await text(request))
    methods.push(method)
    const { protocolVersion } = params
    const result = { protocolVersion, capabilities: {}, serverInfo: { name: 'open', version: '1' } }
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  const home = await testHome({ secrets: false })
  await home.ok(['run', `${origin}/mcp`, '--name', 'far'])
  const { status } = JSON.parse(await home.ok(['status', 'far', '--format', 'json']))
  expect(status).toBe('running')
  await home.ok(['stop', 'far'])
  expect(methods).toEqual(['initialize', 'initialize'])
})
