import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { detect } from '../../../../plugins/auth-out/oauth/detect.ts'
import { registryServer, sendJson } from '../../../support/registry-server.ts'

const refuse = (response: ServerResponse, challenge = 'Bearer realm="x"', status = 401) =>
  response.writeHead(status, { 'www-authenticate': challenge }).end()

test('a challenge to the GET is enough', async () => {
  const server = await registryServer((_, response) => refuse(response))

  const found = await detect({ target: `${server.url}/mcp` })

  expect(found).toMatchObject({ kind: 'login', challenge: { status: 401, realm: 'x', isPrivate: true } })
  expect(server.asked).toHaveLength(1)
})

test('a target that a stranger named is not asked at a private address', async () => {
  const server = await registryServer((_, response) => refuse(response))
  const target = `${server.url.replace('127.0.0.1', 'localhost')}/mcp`

  expect(await detect({ target, mustBePublic: true })).toMatchObject({ kind: 'unreachable' })
  expect(server.asked).toEqual([])
})

test('several header lines are read as one list', async () => {
  const server = await registryServer((_, response) =>
    response.writeHead(401, { 'www-authenticate': ['Basic realm="a"', 'Bearer realm="b"'] }).end(),
  )

  expect(await detect({ target: server.url })).toMatchObject({ challenge: { realm: 'b' } })
})

test('a server that refuses only the POST is found, by `initialize`', async () => {
  let method: unknown
  const server = await registryServer(async (request, response) => {
    if (request.method === 'GET') return response.writeHead(405).end()
    method = JSON.parse(await text(request)).method
    refuse(response)
  })

  expect(await detect({ target: server.url })).toMatchObject({ kind: 'login' })
  expect(method).toBe('initialize')
})

test('a server of the stateless revision is asked in its own words', async () => {
  const server = await registryServer((request, response) => {
    if (request.headers['mcp-protocol-version'] === '2026-07-28') return refuse(response)
    response.writeHead(400).end()
  })

  expect(await detect({ target: server.url })).toMatchObject({ kind: 'login' })
  expect(server.asked.at(-1)?.headers['mcp-method']).toBe('server/discover')
})

test.each([
  ['stateless', ['server/discover']],
  ['legacy', ['GET', 'initialize']],
  [undefined, ['GET', 'initialize', 'server/discover']],
] as const)('a server that is said to be %s is asked in words that it knows', async (protocol, expected) => {
  const asked: string[] = []
  const server = await registryServer(async (request, response) => {
    asked.push(request.method === 'GET' ? 'GET' : JSON.parse(await text(request)).method)
    response.writeHead(400).end()
  })

  expect(await detect({ target: server.url, protocol })).toEqual({ kind: 'none' })
  expect(asked).toEqual(expected)
})

test('a 403 that names missing scopes is a login', async () => {
  const server = await registryServer((_, response) =>
    refuse(response, 'Bearer error="insufficient_scope", scope="a b"', 403),
  )

  expect(await detect({ target: server.url })).toMatchObject({
    kind: 'login',
    challenge: { status: 403, scopes: ['a', 'b'] },
  })
})

test('a 403 without a challenge is a login where there is resource metadata, else none', async () => {
  let hasMetadata = true
  const server = await registryServer((_, response, url) =>
    hasMetadata && url.pathname === '/.well-known/oauth-protected-resource'
      ? sendJson(response, { resource: 'x' })
      : response.writeHead(url.pathname === '/mcp' ? 403 : 404).end(),
  )

  const withMetadata = await detect({ target: `${server.url}/mcp` })
  hasMetadata = false

  expect(withMetadata).toMatchObject({ kind: 'login', challenge: { status: 403 } })
  expect(await detect({ target: `${server.url}/mcp` })).toEqual({ kind: 'none' })
})

test('other schemes are named', async () => {
  const server = await registryServer((_, response) => refuse(response, 'Digest realm="a", Basic realm="b"'))

  expect(await detect({ target: server.url })).toEqual({ kind: 'other', schemes: ['digest', 'basic'] })
})

test('a server that serves needs no login, and its session is closed again', async () => {
  const server = await registryServer((request: IncomingMessage, response) => {
    if (request.method === 'GET')
      return response.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n')
    sendJson(response, {}, { 'mcp-session-id': 'one' })
  })
  const methods: (string | undefined)[] = []

  expect(await detect({ target: server.url })).toEqual({ kind: 'none' })

  methods.push(...server.asked.map(({ headers }) => headers['mcp-session-id'] as string | undefined))
  expect(methods).toEqual([undefined, undefined, 'one'])
})

test('a redirect to another origin is not followed', async () => {
  const other = await registryServer((_, response) => refuse(response))
  const server = await registryServer((_, response) => response.writeHead(307, { location: other.url }).end())

  expect(await detect({ target: server.url })).toMatchObject({ kind: 'unreachable' })
  expect(other.asked).toEqual([])
})

test('a server that is not there is said to be unreachable', async () => {
  const server = await registryServer()
  await server.stop()

  expect(await detect({ target: server.url })).toMatchObject({
    kind: 'unreachable',
    problem: expect.stringContaining('refuses connections'),
  })
})

test('a server that never responds ends with the time limit', async () => {
  const server = await registryServer(() => undefined)

  expect(await detect({ target: server.url, timeoutMs: 200 })).toMatchObject({ kind: 'unreachable' })
})

test('an abort ends the detection with its reason', async () => {
  const stop = new AbortController()
  const server = await registryServer(() => stop.abort(new Error('enough')))

  await expect(detect({ target: server.url, signal: stop.signal })).rejects.toThrow('enough')
})
