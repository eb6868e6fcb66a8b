import type { IncomingMessage, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { testServer, until } from '../proxy/test-proxy.ts'
import { stdioClient } from './stdio-client.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever is there
type Json = any

const STREAM = { 'content-type': 'text/event-stream' }
const OPENED = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } }
/** The shortest pause, less what timers may be early by. */
const LEAST_MS = 98

/** A server of streamable HTTP with sessions; `get` is what it does with requests for its event stream. */
async function workload(
  get: (response: ServerResponse) => void,
  call: (response: ServerResponse, message: Json) => void = response => response.end(),
) {
  const asked: string[] = []
  const gets: number[] = []
  const url = await testServer(async (request: IncomingMessage, response) => {
    if (request.method !== 'POST') {
      if (request.method !== 'GET') return response.end()
      gets.push(performance.now())
      return get(response)
    }
    const message = (await json(request)) as Json
    asked.push(message.method)
    if (message.method === 'initialize') {
      response.setHeader('mcp-session-id', `s${asked.length}`)
      response.setHeader('content-type', 'application/json')
      return response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: OPENED }))
    }
    if (message.id === undefined) return response.writeHead(202).end()
    call(response, message)
  })
  const times = (name: string) => asked.filter(one => one === name).length
  return { url: `${url}/mcp`, gets, times }
}

/** The times between requests for the event stream, in milliseconds, once there were four. */
async function pausesOf(gets: readonly number[]): Promise<number[]> {
  await until(() => gets.length >= 4)
  return gets.slice(1).map((at, index) => at - (gets[index] ?? 0))
}

test('a server that has no event stream and says 404 to that keeps its session', async () => {
  const { url, gets, times } = await workload(response => response.writeHead(404).end())
  await stdioClient(url).initialize()
  await until(() => gets.length > 0)

  await delay(300)

  expect([gets.length, times('initialize')]).toEqual([1, 1])
})

test('a server that ends its event stream at once is asked after a pause, also if it wants none', async () => {
  const { url, gets } = await workload(response => response.writeHead(200, STREAM).end('retry: 0\n\n'))
  await stdioClient(url).initialize()

  expect(Math.min(...(await pausesOf(gets)))).toBeGreaterThanOrEqual(LEAST_MS)
})

test('a server that breaks the stream of a call is asked after a pause, also if it wants none', async () => {
  const { url, gets } = await workload(
    response => response.writeHead(gets.length === 1 ? 405 : 200, STREAM).end('retry: 0\nid: 1\n\n'),
    response => response.writeHead(200, STREAM).end('retry: 0\nid: 1\n\n'),
  )
  const client = stdioClient(url)
  await client.initialize()
  await until(() => gets.length === 1)
  client.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } })

  expect(Math.min(...(await pausesOf(gets)).slice(1))).toBeGreaterThanOrEqual(LEAST_MS)
})

test('an endpoint that is announced again on one connection opens no further session', async () => {
  const asked: string[] = []
  let send: (text: string) => void = () => undefined
  const url = await testServer(async (request, response) => {
    if (request.method === 'GET') {
      send = text => void response.write(text)
      return response.writeHead(200, STREAM).write('event: endpoint\ndata: /messages\n\n')
    }
    const message = (await json(request)) as Json
    asked.push(message.method)
    response.writeHead(202).end()
    if (message.id !== undefined)
      send(`data: ${JSON.stringify({ jsonrpc: '2.0', id: message.id, result: OPENED })}\n\n`)
  })
  const client = stdioClient(`${url}/sse`, { mode: 'sse' })
  await client.initialize()

  send('event: endpoint\ndata: /messages\n\n'.repeat(5))
  client.send({ jsonrpc: '2.0', id: 1, method: 'ping' })
  await client.response(1)
  await delay(100)

  expect(asked.filter(method => method === 'initialize')).toHaveLength(1)
})
