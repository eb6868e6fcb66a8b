import type { IncomingHttpHeaders } from 'node:http'
import { describe, expect, test } from 'vitest'
import type { Exchange, MiddlewareFactory } from '../../../src/contracts/pipeline.ts'
import { post, rpc, testProxy, testServer, until } from './test-proxy.ts'

/** A middleware that does something with each exchange before it goes on. */
const acting =
  (act: (exchange: Exchange) => void): MiddlewareFactory =>
  async () => ({
    name: 'credentials',
    stage: 'credentials',
    wrap: next => exchange => {
      act(exchange)
      return next(exchange)
    },
  })

describe('headers that a middleware sets', () => {
  test('reach the server instead of the client’s of that name', async () => {
    const seen: IncomingHttpHeaders[] = []
    const target = await testServer((request, response) => {
      seen.push(request.headers)
      response.end('{}')
    })
    const setting = acting(exchange => exchange.setHeader('authorization', 'Bearer ours'))
    const proxy = await testProxy({ target, middlewares: [setting] })
    await post(`${proxy.origin}/mcp`, rpc('ping', 1), { authorization: 'Bearer theirs', 'x-other': 'kept' })
    expect(seen).toHaveLength(1)
    expect(seen[0]).toMatchObject({ authorization: 'Bearer ours', 'x-other': 'kept' })
  })
})

describe('a response that refuses the credentials', () => {
  /** A server that takes one token only, and what it was sent. */
  async function guarded() {
    const bodies: string[] = []
    const target = await testServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      bodies.push(Buffer.concat(chunks).toString('utf8'))
      if (request.headers.authorization === 'Bearer good') return response.end('{"ok":true}')
      return response.writeHead(401, { 'www-authenticate': ['Basic realm="a"', 'Bearer'] }).end('no')
    })
    return { target, bodies }
  }

  test('is kept from the client when the middleware gets others, and the request is sent again', async () => {
    const { target, bodies } = await guarded()
    const asked: unknown[] = []
    const renewing = acting(exchange => {
      exchange.onRefused = async refusal => {
        asked.push(refusal)
        exchange.setHeader('authorization', 'Bearer good')
      }
    })
    const proxy = await testProxy({ target, middlewares: [renewing] })
    const answer = await post(`${proxy.origin}/mcp`, rpc('ping', 1))
    expect([answer.status, await answer.text()]).toEqual([200, '{"ok":true}'])
    expect(bodies).toEqual([rpc('ping', 1), rpc('ping', 1)])
    expect(asked).toEqual([{ status: 401, wwwAuthenticate: 'Basic realm="a", Bearer', again: false }])
  })

  test('is passed on when it comes twice', async () => {
    const { target, bodies } = await guarded()
    const hopeless = acting(exchange => {
      exchange.onRefused = ({ again }) => (again ? undefined : Promise.resolve())
    })
    const proxy = await testProxy({ target, middlewares: [hopeless] })
    expect((await post(`${proxy.origin}/mcp`, rpc('ping', 1))).status).toBe(401)
    expect(bodies).toHaveLength(2)
  })

  test('is passed on when no middleware wants it', async () => {
    const { target } = await guarded()
    const watching = acting(exchange => {
      exchange.onRefused = () => undefined
    })
    const proxy = await testProxy({ target, middlewares: [watching] })
    const answer = await post(`${proxy.origin}/mcp`, rpc('ping', 1))
    expect([answer.status, await answer.text()]).toEqual([401, 'no'])
  })
})

describe('what a middleware says of the access to the server', () => {
  test('is told once for each change, and shown by the proxy', async () => {
    const told: unknown[] = []
    const problem = { status: 'unauthenticated', reason: 'nobody has logged in' } as const
    const telling: MiddlewareFactory = async (_config, _listener, { setAccess }) => {
      setAccess(problem)
      setAccess({ ...problem })
      return undefined
    }
    const proxy = await testProxy({ middlewares: [telling], onAccess: now => told.push(now) })
    expect(told).toEqual([problem])
    expect(proxy.access).toEqual(problem)
  })

  test('a middleware is closed with its proxy', async () => {
    let closed = 0
    const closing: MiddlewareFactory = async () => ({
      name: 'closing',
      stage: 'audit',
      wrap: next => next,
      close: () => void closed++,
    })
    const proxy = await testProxy({ middlewares: [closing] })
    await proxy.close({ graceMs: 0 })
    await until(() => closed > 0)
    expect(closed).toBe(1)
  })
})
