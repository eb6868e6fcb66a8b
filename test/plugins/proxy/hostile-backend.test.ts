import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { isPortFree } from '../../../src/lib/ports.ts'
import { post, rawServer, rpc, sendRaw, testProxy, testServer, until } from './test-proxy.ts'

/** A server that answers every request with these bytes and then hangs up. */
const answering = (bytes: string | Buffer) =>
  rawServer(socket => {
    socket.on('data', () => socket.end(bytes))
  })

async function errorFrom(target: string, options: { headersTimeoutMs?: number } = {}) {
  const proxy = await testProxy({ target, ...options })
  const answer = await post(`${proxy.origin}/mcp`, rpc('tools/call', 'call-7'))
  return { status: answer.status, headers: answer.headers, body: await answer.json(), proxy }
}

describe('a server that does not speak HTTP properly gives 502 with the id of the request', () => {
  test.each([
    ['garbage', 'SSH-2.0-OpenSSH_9.9\r\n'],
    ['hangs up at once', ''],
    ['hangs up in its headers', 'HTTP/1.1 200 OK\r\nContent-Type: applic'],
    ['headers of 100 KB', `HTTP/1.1 200 OK\r\nX-Huge: ${'x'.repeat(100_000)}\r\n\r\n`],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 5\r\n\r\nhello'],
    [
      'length and chunks',
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a header with a null byte', 'HTTP/1.1 200 OK\r\nX-Bad: a\0b\r\nContent-Length: 0\r\n\r\n'],
    [
      'an upgrade nobody asked for',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
    ],
  ])('%s', async (_what, bytes) => {
    const { status, body, proxy } = await errorFrom(await answering(bytes))
    expect(status).toBe(502)
    expect(body).toMatchObject({ jsonrpc: '2.0', id: 'call-7', error: { code: -32000 } })
    expect((await fetch(`${proxy.origin}/metrics`)).status).toBe(404)
  })
})

test('a response that breaks off breaks off for the client too, never looks complete', async () => {
  const proxy = await testProxy({
    target: await answering(
      'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"jso',
    ),
  })
  const answer = await post(`${proxy.origin}/mcp`, rpc('tools/list', 1))
  expect(answer.status).toBe(200)
  await expect(answer.text()).rejects.toThrow()
})

test('a chunked response that breaks off has no last chunk', async () => {
  const proxy = await testProxy({
    target: await answering(
      'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"jso\r\n',
    ),
  })
  const answer = await sendRaw(
    proxy.port,
    `POST /mcp HTTP/1.1\r\nHost: localhost:${proxy.port}\r\nContent-Length: 2\r\n\r\n{}`,
  )
  expect(answer).toContain('{"jso')
  expect(answer).not.toContain('0\r\n\r\n')
})

test('a call whose event stream breaks off gets its error as the last event', async () => {
  const proxy = await testProxy({
    target: await answering(
      'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n12\r\ndata: {"half":"of \r\n',
    ),
  })
  const text = await (await post(`${proxy.origin}/mcp`, rpc('tools/call', 42))).text()
  expect(text.split('\n\n').at(-2)).toBe(
    'event: message\ndata: {"jsonrpc":"2.0","id":42,"error":{"code":-32000,"message":"The server went away"}}',
  )
})

test('a resumable event stream of a remote server stays broken: its client asks for the rest', async () => {
  const target = await answering(
    'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\nf\r\nid: 1\ndata: {}\n\n\r\n',
  )
  const proxy = await testProxy({ target, config: { remote_url: target } })
  const answer = await post(`${proxy.origin}/mcp`, rpc('tools/call', 42))
  await expect(answer.text()).rejects.toThrow()
})

test('a server that does not listen gives 503 with Retry-After', async () => {
  let port = 20_000
  while (!(await isPortFree(port))) port++
  const { status, headers, body } = await errorFrom(`http://127.0.0.1:${port}`)
  expect(status).toBe(503)
  expect(headers.get('retry-after')).toBe('1')
  expect(body).toMatchObject({ id: 'call-7', error: { message: expect.stringContaining('does not accept') } })
  expect(JSON.stringify(body)).not.toContain(String(port))
})

test('a server that never begins to respond gives 504', async () => {
  const { status, body } = await errorFrom(await rawServer(() => {}), { headersTimeoutMs: 300 })
  expect(status).toBe(504)
  expect(body).toMatchObject({ id: 'call-7', error: { code: -32000, message: 'Timeout' } })
})

test('a name that does not resolve gives 502', async () => {
  const { status } = await errorFrom('http://no-such-host.invalid')
  expect(status).toBe(502)
})

test('early hints are not taken for the response', async () => {
  const proxy = await testProxy({
    target: await answering(
      'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
    ),
  })
  expect(await (await post(`${proxy.origin}/mcp`, rpc('ping', 1))).text()).toBe('ok')
})

describe('hostile clients', () => {
  const quick = { headersMs: 100, checkMs: 50, uploadMs: 300 }

  test.each([
    ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\x00\r\n\r\n', 400],
    [
      'an absolute target',
      'GET http://evil.example/ HTTP/1.1\r\nHost: localhost:PORT\r\nConnection: close\r\n\r\n',
      400,
    ],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nHost: localhost:PORT\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      400,
    ],
    [
      'length and chunks',
      'POST / HTTP/1.1\r\nHost: localhost:PORT\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['huge headers', `GET / HTTP/1.1\r\nHost: localhost:PORT\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`, 431],
    ['no Host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ])('%s', async (_what, bytes, status) => {
    let asked = 0
    const proxy = await testProxy({
      target: await testServer((_request, response) => {
        asked++
        response.end()
      }),
    })
    const answer = await sendRaw(proxy.port, bytes.replace('PORT', String(proxy.port)))
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(asked).toBe(0)
  })

  test('headers that drip in are cut off', async () => {
    const proxy = await testProxy({ target: 'http://127.0.0.1:1', limits: quick })
    expect(await sendRaw(proxy.port, 'GET /mcp HTTP/1.1\r\nHost: loc')).toMatch(/^HTTP\/1\.1 408 /)
  })

  test('a body that never comes is cut off', async () => {
    const proxy = await testProxy({ target: 'http://127.0.0.1:1', limits: quick })
    const begin = `POST /mcp HTTP/1.1\r\nHost: localhost:${proxy.port}\r\nContent-Length: 10\r\n\r\n{`
    expect(await sendRaw(proxy.port, begin)).toMatch(/^(HTTP\/1\.1 408 |$)/)
  })

  test('a client that disconnects cancels what it asked for', async () => {
    let aborted = false
    let asked = false
    const proxy = await testProxy({
      target: await testServer((_request, response) => {
        asked = true
        response.on('close', () => {
          aborted = true
        })
      }),
    })
    const leaving = new AbortController()
    const call = fetch(`${proxy.origin}/mcp`, {
      method: 'POST',
      body: rpc('tools/call', 1),
      signal: leaving.signal,
    })
    await until(() => asked)
    leaving.abort()
    await expect(call).rejects.toThrow()
    await until(() => aborted)
    expect(aborted).toBe(true)
  })

  test('a client that does not read slows the server down', async () => {
    let written = 0
    let stream: Socket | null = null
    const proxy = await testProxy({
      target: await testServer((_request, response) => {
        stream = response.socket
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const chunk = Buffer.alloc(64 * 1024, 'x')
        const more = () => {
          while (written < 200 * 1024 * 1024 && response.write(chunk)) written += chunk.length
        }
        response.on('drain', more)
        more()
      }),
    })
    const answer = await fetch(`${proxy.origin}/mcp`, { headers: { accept: 'text/event-stream' } })
    let before = -1
    await until(async () => {
      const same = before === written
      before = written
      await new Promise(resolve => setTimeout(resolve, 200))
      return same && before === written
    })
    expect(stream).not.toBeNull()
    expect(written).toBeLessThan(32 * 1024 * 1024)
    await answer.body?.cancel()
  })
})
