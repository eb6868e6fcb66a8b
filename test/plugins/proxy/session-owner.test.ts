import { randomUUID } from 'node:crypto'
import type { RequestListener, ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import type { MiddlewareFactory } from '../../../src/contracts/pipeline.ts'
import { createPuppet } from './bridge/puppet-server.ts'
import { post, rpc, testProxy, testServer } from './test-proxy.ts'

/** Stands for a login: the header says who calls. */
const login: MiddlewareFactory = async () => ({
  name: 'login',
  stage: 'authenticate',
  wrap: next => exchange => {
    const [subject, issuer] = String(exchange.request.headers['x-user'] ?? '').split('@')
    if (subject) exchange.caller = { subject, issuer, claims: {} }
    return next(exchange)
  },
})

const ada = { 'x-user': 'ada@a.test' }
/** Everybody who is not Ada: another subject, the same subject of another issuer, and nobody. */
const OTHERS = [{ 'x-user': 'eve@a.test' }, { 'x-user': 'ada@b.test' }, {}]

const initialize = rpc('initialize', 0, { protocolVersion: '2025-11-25', capabilities: {} })
const streaming = { accept: 'text/event-stream' }

/** A server of both eras that takes any session it is asked for, and notes the sessions it was asked for. */
function trustingServer() {
  const asked: (string | undefined)[] = []
  const listener: RequestListener = (request, response) => {
    asked.push(request.headers['mcp-session-id'] as string | undefined)
    request.resume()
    const headers = { 'content-type': 'application/json', 'mcp-session-id': randomUUID() }
    response
      .writeHead(200, headers)
      .end('{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"]}}')
  }
  return { listener, asked }
}

async function openSession(url: string): Promise<string> {
  const response = await post(url, initialize, ada)
  await response.text()
  return response.headers.get('mcp-session-id') ?? ''
}

/** The statuses that all requests of one caller get in a session. */
async function useSession(url: string, headers: Record<string, string>): Promise<number[]> {
  const requests = [
    post(url, rpc('tools/list', 1), headers),
    post(url, '{"jsonrpc":"2.0","id":1,"result":{}}', headers),
    fetch(url, { headers: { ...headers, ...streaming } }),
    fetch(url, { headers: { ...headers, ...streaming, 'last-event-id': 's1_0' } }),
    fetch(url, { method: 'DELETE', headers }),
  ]
  const statuses = []
  for (const response of await Promise.all(requests)) {
    statuses.push(response.status)
    await response.body?.cancel()
  }
  return statuses
}

describe('a session of a server that speaks HTTP', () => {
  test('does not exist for another caller', async () => {
    const server = trustingServer()
    const proxy = await testProxy({ target: await testServer(server.listener), middlewares: [login] })
    const url = `${proxy.origin}/mcp`
    const session = { 'mcp-session-id': await openSession(url) }
    server.asked.length = 0

    for (const other of OTHERS) {
      expect(await useSession(url, { ...other, ...session })).toEqual([404, 404, 404, 404, 404])
    }
    expect(server.asked).toEqual([])
    expect((await post(url, rpc('tools/list', 1), { ...ada, ...session })).status).toBe(200)
  })

  test('is not reached by a request of a revision without sessions', async () => {
    const server = trustingServer()
    const proxy = await testProxy({ target: await testServer(server.listener), middlewares: [login] })
    const url = `${proxy.origin}/mcp`
    const session = { 'mcp-session-id': await openSession(url) }
    server.asked.length = 0

    await post(url, rpc('tools/list', 1), {
      ...{ 'x-user': 'eve@a.test' },
      ...session,
      'mcp-protocol-version': '2026-07-28',
    })

    // The first request asks for the era of the server, the second ends the session that this has begun.
    expect(server.asked).toEqual([undefined, expect.any(String), undefined])
    expect(server.asked).not.toContain(session['mcp-session-id'])
  })

  test('stays with its caller when the server gives the same id to another one', async () => {
    const proxy = await testProxy({
      target: await testServer((request, response) => {
        request.resume()
        response
          .writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'one-for-all' })
          .end('{"jsonrpc":"2.0","id":0,"result":{}}')
      }),
      middlewares: [login],
    })
    const url = `${proxy.origin}/mcp`
    const session = { 'mcp-session-id': await openSession(url) }
    const eve = { 'x-user': 'eve@a.test' }
    await post(url, initialize, eve)

    expect((await post(url, rpc('tools/list', 1), { ...eve, ...session })).status).toBe(404)
    expect((await post(url, rpc('tools/list', 1), { ...ada, ...session })).status).toBe(200)
  })
})

test('the endpoint of an SSE server takes messages of the caller of its stream only', async () => {
  const posted: string[] = []
  const streams: ServerResponse[] = []
  const proxy = await testProxy({
    config: { transport: 'sse' },
    target: await testServer((request, response) => {
      if (request.method === 'POST') {
        posted.push(request.url ?? '')
        request.resume()
        response.writeHead(202).end()
        return
      }
      streams.push(response)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('event: endpoint\ndata: /messages?session=1\n\n')
    }),
    middlewares: [login],
  })
  const stream = await fetch(`${proxy.origin}/sse`, { headers: { ...ada, ...streaming } })
  await stream.body?.getReader().read()
  const endpoint = `${proxy.origin}/messages?session=1`

  for (const other of OTHERS) {
    expect((await post(endpoint, rpc('ping', 1), other)).status).toBe(404)
  }
  expect((await post(`${endpoint}&x=1`, rpc('ping', 1), OTHERS[0])).status).toBe(404)
  expect(posted).toEqual([])
  expect((await post(endpoint, rpc('ping', 1), ada)).status).toBe(202)
  expect(posted).toEqual(['/messages?session=1'])
})

describe('a session of a stdio server', () => {
  test('does not exist for another caller', async () => {
    const puppet = createPuppet()
    const proxy = await testProxy({ config: { transport: 'stdio' }, middlewares: [login] })
    await proxy.connect({ kind: 'stdio', attachment: puppet.attachment })
    const url = `${proxy.origin}/mcp`
    const session = { 'mcp-session-id': await openSession(url) }

    for (const other of OTHERS) {
      expect(await useSession(url, { ...other, ...session })).toEqual([404, 404, 404, 404, 404])
    }
    expect(puppet.received('tools/list')).toEqual([])
    const own = await fetch(url, { method: 'DELETE', headers: { ...ada, ...session } })
    expect(own.status).toBe(204)
  })

  test('over SSE does not exist for another caller', async () => {
    const puppet = createPuppet()
    const proxy = await testProxy({
      config: { transport: 'stdio', proxy_mode: 'sse' },
      middlewares: [login],
    })
    await proxy.connect({ kind: 'stdio', attachment: puppet.attachment })
    const stream = await fetch(`${proxy.origin}/sse`, { headers: { ...ada, ...streaming } })
    const first = await stream.body?.getReader().read()
    const [, endpoint = ''] = /data: (\S+)/.exec(Buffer.from(first?.value ?? []).toString()) ?? []

    for (const other of OTHERS) {
      expect((await post(endpoint, rpc('tools/list', 1), other)).status).toBe(404)
    }
    expect(puppet.received('tools/list')).toEqual([])
    expect((await post(endpoint, rpc('tools/list', 1), ada)).status).toBe(202)
  })
})
