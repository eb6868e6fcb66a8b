import { hostname } from 'node:os'
import { describe, expect, test } from 'vitest'
import { canonicalOrigin } from '../../../src/net/host-names.ts'
import { post, rpc, sendRaw, testProxy, testServer } from './test-proxy.ts'

const answering = () => testServer((_request, response) => response.end('from the server'))

async function statusWith(headers: string, config = {}, host?: string) {
  const proxy = await testProxy({ target: await answering(), config })
  const answer = await sendRaw(
    proxy.port,
    `GET /mcp HTTP/1.1\r\nHost: ${host ?? `127.0.0.1:${proxy.port}`}\r\n${headers}Connection: close\r\n\r\n`.replaceAll(
      'PORT',
      String(proxy.port),
    ),
  )
  return { status: Number(answer.split(' ')[1]), answer }
}

describe('Origin', () => {
  test('a request without Origin passes', async () => {
    expect((await statusWith('')).status).toBe(200)
  })

  test.each(['http://localhost:PORT', 'http://127.0.0.1:PORT', 'http://[::1]:PORT', 'HTTP://LOCALHOST:PORT'])(
    'a loopback proxy takes its own origin %s',
    async origin => {
      expect((await statusWith(`Origin: ${origin}\r\n`)).status).toBe(200)
    },
  )

  test.each([
    'https://evil.example',
    'http://localhost:1',
    'null',
    'localhost',
    'http://user@localhost:PORT',
    '',
  ])('a loopback proxy refuses the origin "%s"', async origin => {
    const { status, answer } = await statusWith(`Origin: ${origin}\r\n`)
    expect(status).toBe(403)
    expect(answer).toContain('{"jsonrpc":"2.0","error":{"code":-32600,"message":"Origin not allowed"}}')
  })

  test('two Origin headers are refused, even if both are allowed', async () => {
    const twice = 'Origin: http://localhost:PORT\r\nOrigin: http://localhost:PORT\r\n'
    expect((await statusWith(twice)).status).toBe(403)
  })

  test('an explicit list replaces the defaults', async () => {
    const config = { allowed_origins: ['https://App.example/some/path'] }
    expect((await statusWith('Origin: https://app.example\r\n', config)).status).toBe(200)
    expect((await statusWith('Origin: http://localhost:PORT\r\n', config)).status).toBe(403)
  })

  test.each([
    ['http://tools.example:8443', 403],
    ['http://127.0.0.1:1', 403],
    ['http://127.0.0.1:PORT', 200],
    ['https://127.0.0.1:PORT', 200],
    ['null', 403],
  ])('on all addresses without a list only the host itself may call: %s → %d', async (origin, status) => {
    expect((await statusWith(`Origin: ${origin}\r\n`, { host: '0.0.0.0' })).status).toBe(status)
  })

  test('text that is not an origin has no canonical form', () => {
    expect(canonicalOrigin('null')).toBeUndefined()
    expect(canonicalOrigin('http://a@b')).toBeUndefined()
    expect(canonicalOrigin('http://a, http://a')).toBeUndefined()
    expect(canonicalOrigin('https://A.example:8443/x?y')).toBe('https://a.example:8443')
  })
})

describe('Host', () => {
  test.each(['localhost:PORT', '[::1]:PORT', 'LOCALHOST:PORT', 'host.docker.internal:PORT'])(
    'a loopback proxy accepts the host %s',
    async host => {
      expect((await statusWith('', {}, host)).status).toBe(200)
    },
  )

  test.each(['evil.example', 'evil.example:PORT', 'localhost', 'localhost:1', '127.0.0.1.evil.example:PORT'])(
    'a name rebound to loopback is refused: %s',
    async host => {
      const { status, answer } = await statusWith('', {}, host)
      expect(status).toBe(403)
      expect(answer).toContain('Host not allowed')
      expect(answer).not.toContain('from the server')
    },
  )

  test.each([
    ['tools.example:PORT', 200],
    ['TOOLS.example:PORT', 200],
    ['[fd00::1]:PORT', 200],
    ['tools.example:1', 403],
    ['localhost:PORT', 403],
  ])('a profile that names the hosts is exact: %s → %d', async (host, status) => {
    const inbound = { allow_host: ['Tools.example', 'fd00::1'] }
    expect((await statusWith('', { permission_profile: { network: { inbound } } }, host)).status).toBe(status)
  })

  test('/health is behind the same check', async () => {
    const proxy = await testProxy({ target: await answering() })
    const answer = await sendRaw(
      proxy.port,
      'GET /health HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
    )
    expect(answer).toMatch(/^HTTP\/1\.1 403 /)
  })

  test.each([
    ['192.0.2.7:8080', 200],
    ['[2001:db8::7]', 200],
    ['localhost:1', 200],
    [hostname(), 200],
    ['tools.example', 403],
    ['127.0.0.1.evil.example:PORT', 403],
  ])(
    'a proxy on all addresses takes addresses and own names, whatever the port: %s → %d',
    async (host, status) => {
      expect((await statusWith('', { host: '0.0.0.0' }, host)).status).toBe(status)
    },
  )

  test('hosts of allowed origins are ours on all addresses, too', async () => {
    const config = { host: '0.0.0.0', allowed_origins: ['https://tools.example'] }
    expect((await statusWith('', config, 'tools.example:8080')).status).toBe(200)
    expect((await statusWith('', config, 'evil.example')).status).toBe(403)
  })
})

describe('Host behind a proxy that is trusted', () => {
  const trusting = (more: object = {}) => ({ trust_proxy_headers: true, ...more })
  const via = (name: string) => `X-Forwarded-Host: ${name}\r\n`

  test.each(['evil.example', 'evil.example:PORT'])('no name is taken without a word: %s', async host => {
    expect((await statusWith('', trusting(), host)).status).toBe(403)
    expect((await statusWith(via('localhost'), trusting(), host)).status).toBe(403)
    expect((await statusWith(via(host), trusting())).status).toBe(403)
  })

  test('what says that a name is ours: an allowed origin, or the profile', async () => {
    const origins = trusting({ allowed_origins: ['https://tools.example'] })
    const inbound = trusting({
      permission_profile: { network: { inbound: { allow_host: ['tools.example'] } } },
    })
    for (const config of [origins, inbound]) {
      expect((await statusWith('', config, 'tools.example')).status).toBe(200)
      expect((await statusWith(via('tools.example:8443'), config)).status).toBe(200)
      expect((await statusWith(via('tools.example'), config, 'evil.example')).status).toBe(403)
      expect((await statusWith(via('evil.example'), config)).status).toBe(403)
    }
    expect((await statusWith('', inbound)).status).toBe(403)
  })

  test('where nothing says so, that is logged once', async () => {
    const proxy = await testProxy({ target: await answering(), config: trusting() })
    expect(proxy.logged.filter(line => line.includes('behind the trusted proxy'))).toHaveLength(1)
    const named = await testProxy({
      target: await answering(),
      config: trusting({ allowed_origins: ['https://tools.example'] }),
    })
    expect(named.logged.filter(line => line.includes('behind the trusted proxy'))).toEqual([])
  })

  test('a header that is not trusted is ignored', async () => {
    expect((await statusWith(via('evil.example'))).status).toBe(200)
  })
})

describe('Sec-Fetch-Site', () => {
  test.each([
    ['cross-site', 403],
    ['same-site', 403],
    ['none, none', 403],
    ['same-origin', 200],
    ['none', 200],
  ])('%s without an Origin → %d', async (site, status) => {
    expect((await statusWith(`Sec-Fetch-Site: ${site}\r\n`)).status).toBe(status)
    expect((await statusWith(`Sec-Fetch-Site: ${site}\r\n`, { host: '0.0.0.0' })).status).toBe(status)
  })

  test('an allowed origin of another site may call', async () => {
    const headers = 'Origin: https://app.example\r\nSec-Fetch-Site: cross-site\r\n'
    expect((await statusWith(headers, { allowed_origins: ['https://app.example'] })).status).toBe(200)
  })
})

describe('methods', () => {
  test.each(['GET', 'DELETE', 'HEAD'])('%s of the stateless revision gets 405 with Allow', async method => {
    const proxy = await testProxy({ target: await answering() })
    const answer = await fetch(`${proxy.origin}/mcp`, {
      method,
      headers: { 'mcp-protocol-version': '2026-07-28' },
    })
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe('POST, OPTIONS')
  })

  test('a stateless workload takes POST only, whatever the revision', async () => {
    const proxy = await testProxy({ target: await answering(), config: { stateless: true } })
    expect((await fetch(`${proxy.origin}/mcp`)).status).toBe(405)
    expect((await post(`${proxy.origin}/mcp`, rpc('ping', 1))).status).toBe(200)
    expect((await fetch(`${proxy.origin}/health`)).status).toBe(200)
  })
})
