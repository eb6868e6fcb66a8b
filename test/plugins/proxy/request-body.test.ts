import { request } from 'node:http'
import { describe, expect, test } from 'vitest'
import { createFairShare } from '../../../plugins/proxy/fair-share.ts'
import type { MiddlewareFactory } from '../../../src/contracts/pipeline.ts'
import { post, rpc, sendRaw, testProxy, testServer, until } from './test-proxy.ts'

const MIB = 1024 * 1024

/** Answers with the number of bytes it got. */
const counting = () =>
  testServer(async (request, response) => {
    let total = 0
    try {
      for await (const chunk of request) total += chunk.length
    } catch {
      return
    }
    response.end(String(total))
  })

const reading: MiddlewareFactory = async () => ({
  name: 'reading',
  stage: 'validate',
  wrap: next => async exchange => {
    await exchange.message()
    await next(exchange)
  },
})

function postChunked(origin: string, chunks: number): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${origin}/mcp`, { method: 'POST' }, async response => {
      let text = ''
      for await (const chunk of response) text += chunk
      resolve({ status: response.statusCode ?? 0, text })
    })
    outgoing.on('error', reject)
    outgoing.write('"')
    for (let i = 0; i < chunks; i++) outgoing.write(Buffer.alloc(MIB, 'a'))
    outgoing.end('"')
  })
}

const tooLarge = (bytes: number) => ({
  jsonrpc: '2.0',
  error: { code: -32600, message: `The request body is larger than ${bytes} bytes` },
})

describe('the cap of 8 MiB', () => {
  test('an announced length above it is refused before a byte is read', async () => {
    const proxy = await testProxy({ target: await counting() })
    const answer = await sendRaw(
      proxy.port,
      `POST /mcp HTTP/1.1\r\nHost: localhost:${proxy.port}\r\nContent-Length: ${8 * MIB + 1}\r\nConnection: close\r\n\r\n`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
  })

  test('a request with Expect is refused before its body is sent', async () => {
    const proxy = await testProxy({ target: await counting() })
    const answer = await sendRaw(
      proxy.port,
      `POST /mcp HTTP/1.1\r\nHost: localhost:${proxy.port}\r\nContent-Length: ${8 * MIB + 1}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
  })

  test('a body that streams through is cut off at it', async () => {
    const proxy = await testProxy({ target: await counting() })
    const answer = await postChunked(proxy.origin, 9)
    expect(answer.status).toBe(413)
    expect(JSON.parse(answer.text)).toEqual(tooLarge(8 * MIB))
  })

  test('a body that a middleware reads is cut off at it', async () => {
    const proxy = await testProxy({ target: await counting(), middlewares: [reading] })
    expect((await postChunked(proxy.origin, 9)).status).toBe(413)
  })

  test('a body just below it passes whole, streamed or read', async () => {
    const target = await counting()
    const streaming = await testProxy({ target })
    const buffering = await testProxy({ target, middlewares: [reading] })
    expect(await postChunked(streaming.origin, 7)).toEqual({ status: 200, text: String(7 * MIB + 2) })
    expect(await postChunked(buffering.origin, 7)).toEqual({ status: 200, text: String(7 * MIB + 2) })
  })
})

test.each([
  ['a smaller cap', 100_000],
  ['a larger cap', 20 * MIB],
])('%s holds for announced, streamed and read bodies', async (_what, max_body_bytes) => {
  const target = await counting()
  for (const middlewares of [[], [reading]]) {
    const { origin } = await testProxy({ target, middlewares, config: { max_body_bytes } })
    const fits = JSON.stringify('x'.repeat(max_body_bytes - 2))
    const passed = await post(`${origin}/mcp`, fits)
    expect([passed.status, await passed.text()]).toEqual([200, String(max_body_bytes)])
    const refused = await post(`${origin}/mcp`, `${fits} `)
    expect([refused.status, await refused.json()]).toEqual([413, tooLarge(max_body_bytes)])
    expect((await postChunked(origin, 21)).status).toBe(413)
  }
})

/** A middleware of an added plugin. */
const added: MiddlewareFactory = async () => ({ name: 'added', stage: 'validate', wrap: next => next })

describe('batches, where a plugin has been added', () => {
  test.each([
    ['small', `  \n[${rpc('ping', 1)}]`],
    ['large', `[${rpc('ping', 1, { text: 'x'.repeat(200_000) })}]`],
  ])('a %s one is refused without an id and does not reach the server', async (_size, body) => {
    let asked = 0
    const proxy = await testProxy({
      target: await testServer((_request, response) => {
        asked++
        response.end()
      }),
      added: [added],
    })
    const answer = await post(`${proxy.origin}/mcp`, body, { 'content-type': 'text/plain' })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toEqual({
      jsonrpc: '2.0',
      error: { code: -32600, message: expect.stringContaining('JSON-RPC batches are refused') },
    })
    expect((await post(`${proxy.origin}/mcp`, rpc('ping', 2))).status).toBe(200)
    expect(asked).toBe(1)
  })

  test('one sent in pieces is found behind its white space', async () => {
    const proxy = await testProxy({ target: await counting(), added: [added] })
    const answer = await sendRaw(
      proxy.port,
      `POST /mcp HTTP/1.1\r\nHost: localhost:${proxy.port}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\n  \r\n4\r\n\n[{}\r\n1\r\n]\r\n0\r\n\r\n`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('-32600')
  })
})

test.each(['streamable-http', 'sse'] as const)(
  'else a batch passes to an HTTP server (%s) as bytes',
  async transport => {
    const received: string[] = []
    const target = await testServer(async (request, response) => {
      let text = ''
      for await (const chunk of request) text += chunk
      received.push(text)
      response.end()
    })
    const { origin } = await testProxy({ target, config: { transport } })
    const bodies = [` [ ${rpc('ping', 1)} , ${rpc('a', 2, { text: 'x'.repeat(200_000) })}]`, '[]', '[[1.0]]']
    const sent = bodies.map(body => post(`${origin}/other`, body).then(({ status }) => status))
    expect(await Promise.all(sent)).toEqual([200, 200, 200])
    expect(received.toSorted()).toEqual(bodies.toSorted())
  },
)

test('a body replaced by a middleware is sent with its own length', async () => {
  const replacing: MiddlewareFactory = async () => ({
    name: 'replacing',
    stage: 'mutate',
    wrap: next => exchange => {
      exchange.replaceBody(Buffer.from('twelve bytes'))
      return next(exchange)
    },
  })
  const proxy = await testProxy({ target: await counting(), middlewares: [replacing] })
  expect(await (await post(`${proxy.origin}/mcp`, rpc('ping', 1))).text()).toBe('12')
})

test('an upload that breaks off breaks off at the server too', async () => {
  let started = false
  let broken = false
  const proxy = await testProxy({
    target: await testServer(request => {
      request.on('data', () => {
        started = true
      })
      request.on('error', () => {})
      request.on('close', () => {
        broken = !request.complete
      })
    }),
  })
  const outgoing = request(`${proxy.origin}/mcp`, { method: 'POST' })
  outgoing.on('error', () => {})
  outgoing.write(Buffer.alloc(100_000, 'x'))
  await until(() => started)
  outgoing.destroy()
  await until(() => broken)
  expect(broken).toBe(true)
})

describe('long bodies that are held at a time', () => {
  const start = async () => {
    const held: (() => void)[] = []
    const target = await testServer((request, response) => {
      request.resume().on('end', () => held.push(() => response.end('{}')))
    })
    const config = { trust_proxy_headers: true }
    const bodies = createFairShare(8 * MIB)
    const proxy = await testProxy({ target, config, middlewares: [reading], bodies })
    const send = (address: string, bytes: number) =>
      post(`${proxy.origin}/mcp`, rpc('tools/call', address, { data: 'x'.repeat(bytes) }), {
        'x-forwarded-for': address,
      })
    return { proxy, bodies, held, send }
  }

  test('one caller gets half of the memory, and 503 beyond it; others and short bodies pass', async () => {
    const { held, send } = await start()
    const first = [send('192.0.2.1', 2 * MIB), send('192.0.2.1', 2 * MIB)]
    await until(() => held.length === 2)
    const refused = await send('192.0.2.1', MIB)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await refused.json()).toMatchObject({
      error: { message: expect.stringContaining('long requests') },
    })
    const others = [send('192.0.2.2', MIB), send('192.0.2.1', 10_000)]
    await until(() => held.length === 4)
    for (const respond of held) respond()
    for (const response of await Promise.all([...first, ...others])) expect(response.status).toBe(200)
    const again = send('192.0.2.1', 3 * MIB)
    await until(() => held.length === 5)
    held[4]?.()
    expect((await again).status).toBe(200)
  })

  test('what a client has sent and given up is given back', async () => {
    const { proxy, bodies } = await start()
    const outgoing = request(`${proxy.origin}/mcp`, {
      method: 'POST',
      headers: { 'content-length': 8 * MIB, 'x-forwarded-for': '192.0.2.1' },
    })
    outgoing.on('error', () => {})
    outgoing.write(Buffer.alloc(2 * MIB, 'a'))
    await until(() => !bodies.hasRoom('192.0.2.1', 3 * MIB))
    outgoing.destroy()
    await until(() => bodies.hasRoom('192.0.2.1', 4 * MIB))
  })
})
