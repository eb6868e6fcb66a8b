import { describe, expect, test } from 'vitest'
import { canonicalOrigin } from '../../../plugins/proxy/origin-check.ts'
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

  test('on all addresses without a list the check is off, with one warning', async () => {
    const proxy = await testProxy({ target: await answering(), config: { host: '0.0.0.0' } })
    expect((await post(`${proxy.origin}/mcp`, rpc('ping', 1), { origin: 'https://x.example' })).status).toBe(
      200,
    )
    expect(proxy.logged.filter(line => line.includes('Origin check is off'))).toHaveLength(1)
  })

  test('what is no origin has no canonical form', () => {
    expect(canonicalOrigin('null')).toBeUndefined()
    expect(canonicalOrigin('http://a@b')).toBeUndefined()
    expect(canonicalOrigin('http://a, http://a')).toBeUndefined()
    expect(canonicalOrigin('https://A.example:8443/x?y')).toBe('https://a.example:8443')
  })
})

describe('Host', () => {
  test.each(['localhost:PORT', '[::1]:PORT', 'LOCALHOST:PORT', 'host.docker.internal:PORT'])(
    'a loopback proxy answers to %s',
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

  test('a proxy on all addresses cannot know its names and takes any', async () => {
    expect((await statusWith('', { host: '0.0.0.0' }, 'tools.example')).status).toBe(200)
  })
})

describe('methods', () => {
  test.each(['GET', 'DELETE', 'HEAD'])(
    '%s of the stateless revision is answered 405 with Allow',
    async method => {
      const proxy = await testProxy({ target: await answering() })
      const answer = await fetch(`${proxy.origin}/mcp`, {
        method,
        headers: { 'mcp-protocol-version': '2026-07-28' },
      })
      expect(answer.status).toBe(405)
      expect(answer.headers.get('allow')).toBe('POST, OPTIONS')
    },
  )

  test('a stateless workload takes POST only, whatever the revision', async () => {
    const proxy = await testProxy({ target: await answering(), config: { stateless: true } })
    expect((await fetch(`${proxy.origin}/mcp`)).status).toBe(405)
    expect((await post(`${proxy.origin}/mcp`, rpc('ping', 1))).status).toBe(200)
    expect((await fetch(`${proxy.origin}/health`)).status).toBe(200)
  })
})
