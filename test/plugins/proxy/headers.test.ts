import type { IncomingHttpHeaders } from 'node:http'
import { describe, expect, test } from 'vitest'
import { sendRaw, testProxy, testServer } from './test-proxy.ts'

/** What a server gets when a client sends these header lines. */
async function received(
  lines: string[],
  config = {},
): Promise<{ headers: IncomingHttpHeaders; host: string }> {
  let headers: IncomingHttpHeaders = {}
  const target = await testServer((request, response) => {
    headers = request.headers
    response.end()
  })
  const proxy = await testProxy({ target, config })
  const head = ['GET /mcp HTTP/1.1', ...lines]
  if (!lines.some(line => /^host:/i.test(line))) head.push(`Host: localhost:${proxy.port}`)
  if (!lines.some(line => /^connection:/i.test(line))) head.push('Connection: close')
  await sendRaw(proxy.port, `${head.join('\r\n')}\r\n\r\n`)
  return { headers, host: new URL(target).host }
}

describe('towards the server', () => {
  test('Host is the server, the client is named in X-Forwarded-*', async () => {
    const { headers, host } = await received([])
    expect(headers.host).toBe(host)
    expect(headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' })
    expect(headers['x-forwarded-host']).toMatch(/^localhost:\d+$/)
  })

  test('what belongs to the connection stays behind, also what Connection names', async () => {
    const { headers } = await received([
      'Connection: close, X-Secret-Hop',
      'X-Secret-Hop: 1',
      'Keep-Alive: timeout=5',
      'TE: trailers',
      'Upgrade: websocket',
      'Proxy-Authorization: Basic eDp5',
      'X-Kept: yes',
    ])
    expect(headers['x-kept']).toBe('yes')
    for (const name of ['x-secret-hop', 'keep-alive', 'te', 'upgrade', 'proxy-authorization']) {
      expect(headers).not.toHaveProperty(name)
    }
  })

  test('forged X-Forwarded-* are dropped', async () => {
    const { headers } = await received([
      'X-Forwarded-For: 6.6.6.6',
      'X-Forwarded-Host: evil.example',
      'X-Forwarded-Proto: https',
      'Forwarded: for=6.6.6.6',
      'X-Real-IP: 6.6.6.6',
    ])
    expect(JSON.stringify(headers)).not.toMatch(/6\.6\.6\.6|evil|https/)
  })

  test('the caller token is for the proxy alone', async () => {
    const { headers } = await received(['Keelson-Caller-Token: abc'])
    expect(headers).not.toHaveProperty('keelson-caller-token')
  })

  test('those of a trusted proxy are kept and continued', async () => {
    const { headers } = await received(
      ['X-Forwarded-For: 10.0.0.9', 'X-Forwarded-Host: tools.example', 'X-Forwarded-Proto: https'],
      { trust_proxy_headers: true, allowed_origins: ['https://tools.example'] },
    )
    expect(headers).toMatchObject({
      'x-forwarded-for': '10.0.0.9, 127.0.0.1',
      'x-forwarded-host': 'tools.example',
      'x-forwarded-proto': 'https',
    })
  })

  test('a remote server does not learn our name', async () => {
    const { headers } = await received([], { remote_url: 'http://remote.example/mcp' })
    expect(headers).not.toHaveProperty('x-forwarded-host')
  })

  test('headers of MCP and unknown ones pass as they are', async () => {
    const { headers } = await received([
      'MCP-Protocol-Version: 2025-11-25',
      'Last-Event-ID: 17',
      'Authorization: Bearer abc',
      'X-Latin: caf\u00e9',
    ])
    expect(headers).toMatchObject({
      'mcp-protocol-version': '2025-11-25',
      'last-event-id': '17',
      authorization: 'Bearer abc',
    })
  })
})

describe('towards the client', () => {
  test('status, repeated and unknown headers pass; those of the connection do not', async () => {
    const target = await testServer((_request, response) => {
      response.writeHead(418, [
        ['Set-Cookie', 'a=1'],
        ['Set-Cookie', 'b=2'],
        ['X-Hop', '1'],
        ['Connection', 'close, X-Hop'],
        ['WWW-Authenticate', 'Bearer realm="x"'],
      ] as unknown as string[])
      response.end('short and stout')
    })
    const proxy = await testProxy({ target })
    const answer = await fetch(`${proxy.origin}/mcp`)
    expect(answer.status).toBe(418)
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="x"')
    expect(answer.headers.has('x-hop')).toBe(false)
    expect(await answer.text()).toBe('short and stout')
  })

  test.each([204, 304])('%d has no body', async status => {
    const proxy = await testProxy({
      target: await testServer((_request, response) => response.writeHead(status).end()),
    })
    const answer = await fetch(`${proxy.origin}/mcp`)
    expect(answer.status).toBe(status)
    expect(await answer.text()).toBe('')
  })

  test('HEAD passes with the length of what GET would give', async () => {
    const proxy = await testProxy({
      target: await testServer((_request, response) =>
        response.writeHead(200, { 'content-length': 1234 }).end(),
      ),
    })
    const answer = await fetch(`${proxy.origin}/file`, { method: 'HEAD' })
    expect(answer.headers.get('content-length')).toBe('1234')
  })
})
