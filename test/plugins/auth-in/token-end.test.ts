import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { createAuthenticate } from '../../../plugins/auth-in/middlewares.ts'
import { createCallerAuth } from '../../../plugins/auth-in/service.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { createLog } from '../../../src/log.ts'
import { createPuppet } from '../proxy/bridge/puppet-server.ts'
import { post, rpc, testProxy, testServer } from '../proxy/test-proxy.ts'
import { AUDIENCE, startIssuer } from './issuer.ts'

const STREAM = { accept: 'text/event-stream' }

/** A proxy whose callers log in, and tokens that end after so many seconds. */
async function world(target: string | undefined, config: Partial<RunConfig> = {}) {
  const issuer = await startIssuer()
  const auth = createCallerAuth(
    { issuer: issuer.url, audience: AUDIENCE, allowHttp: true, allowPrivateIp: true },
    { log: createLog({ write: () => undefined, human: false, debug: false }), resourceUrl: undefined },
  )
  const middlewares = [async () => createAuthenticate(auth, { leewayMs: 0 })]
  const proxy = await testProxy({ config, middlewares, ...(target ? { target } : {}) })
  const as = async (sub: string, seconds: number) => {
    const exp = Math.floor(Date.now() / 1000) + seconds
    return { authorization: `Bearer ${await issuer.sign({ sub, exp })}` }
  }
  return { proxy, as }
}

test.each([
  ['streamable HTTP', 'streamable-http', '/mcp'],
  ['SSE', 'sse', '/sse'],
] as const)(
  'a stream over %s ends with the token of its caller, and no other does',
  async (_, transport, path) => {
    const streams: ServerResponse[] = []
    const server = await testServer((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n')
      streams.push(response)
    })
    const { proxy, as } = await world(server, { transport })
    const open = async (seconds: number) =>
      fetch(`${proxy.origin}${path}`, { headers: { ...STREAM, ...(await as('ada', seconds)) } })

    const [short, long] = [await open(2), await open(300)]
    const reader = long.body?.getReader()
    await reader?.read()
    await short.text()

    await expect.poll(() => streams.filter(({ destroyed }) => destroyed).length).toBe(1)
    for (const stream of streams) if (!stream.destroyed) stream.write('data: still here\n\n')
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: still here\n\n')
  },
)

test('a call that began in time gets its response after the end of the token', async () => {
  let waiting: ServerResponse | undefined
  const server = await testServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    if (request.method === 'POST') waiting = response
  })
  const { proxy, as } = await world(server)
  const ada = await as('ada', 2)
  const call = await post(`${proxy.origin}/mcp`, rpc('tools/call', 1, { name: 'slow' }), ada)
  await (await fetch(`${proxy.origin}/mcp`, { headers: { ...STREAM, ...ada } })).text()

  waiting?.end('data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n')
  expect(await call.text()).toContain('"result":{}')
})

test('a request that listens ends with the token, as a stream of the revision before', async () => {
  const server = await testServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n')
  })
  const { proxy, as } = await world(server)
  const headers = { ...(await as('ada', 2)), 'mcp-protocol-version': '2026-07-28' }
  const listening = await post(`${proxy.origin}/mcp`, rpc('subscriptions/listen', 1), headers)
  expect(listening.status).toBe(200)
  await listening.text()
})

test('a stream of a stdio server ends with the token; the session goes on with the next one', async () => {
  const { proxy, as } = await world(undefined, { transport: 'stdio' })
  await proxy.connect({ kind: 'stdio', attachment: createPuppet().attachment })
  const url = `${proxy.origin}/mcp`
  const ada = await as('ada', 2)
  const initialize = rpc('initialize', 0, { protocolVersion: '2025-11-25', capabilities: {} })
  const opened = await post(url, initialize, ada)
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
  await opened.text()

  await (await fetch(url, { headers: { ...STREAM, ...ada, ...session } })).text()

  const again = await fetch(url, { headers: { ...STREAM, ...(await as('ada', 300)), ...session } })
  expect(again.status).toBe(200)
  await again.body?.cancel()
})
