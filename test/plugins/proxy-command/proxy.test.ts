import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { identityProvider } from '../../support/identity-provider.ts'
import { keelsonUser } from '../../support/keelson.ts'
import { ownAuthority } from '../../support/own-authority.ts'
import { post, rpc, testServer } from '../proxy/test-proxy.ts'
import { startCommand } from './running-command.ts'

const AUDIENCE = 'https://notes.example'

const startProxy = (...args: string[]) => startCommand(['notes', ...args])

/** A target that says what it got. */
const target = () =>
  testServer((request, response) => {
    const { url, headers } = request
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { url, headers } }))
  })

test('requests reach the target with their own paths when it has none', async () => {
  const { url, said } = await startProxy('--target-uri', await target())
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect(said()).toContain('notes forwards to')
  for (const path of ['/mcp', '/other?x=1']) {
    const response = await post(`${url}${path}`, rpc('ping', 1))
    expect(await response.json()).toMatchObject({ result: { url: path } })
  }
})

test('the path of the target stands for whatever was asked', async () => {
  const { url } = await startProxy('--target-uri', `${await target()}/api/mcp?key=1`)
  expect(new URL(url).pathname).toBe('/api/mcp')
  const response = await post(url, rpc('ping', 1))
  expect(await response.json()).toMatchObject({ result: { url: '/api/mcp?key=1' } })
})

test('a busy port moves on to a free one, with a note', async () => {
  const busy = createServer()
  await new Promise<void>(resolve => busy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void busy.close())
  const { port } = busy.address() as AddressInfo
  const { url, said } = await startProxy('--target-uri', await target(), '--port', String(port))
  expect(said()).toContain(`Port ${port} is in use; the proxy listens on ${new URL(url).port} instead.`)
  expect(Number(new URL(url).port)).not.toBe(port)
})

test('behind its own authorization server a proxy keeps its port, which the provider knows', async () => {
  const busy = createServer()
  await new Promise<void>(resolve => busy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void busy.close())
  const { port } = busy.address() as AddressInfo
  const user = await keelsonUser()
  const login = ['--auth-server-upstream', 'https://login.test', '--auth-server-client-id', 'keelson']
  const at = ['--target-uri', await target(), '--port', String(port)]
  const { code, stdout, stderr } = await user.run(['proxy', 'notes', ...at, ...login])
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain(`Port ${port} on 127.0.0.1 is already in use.`)
})

test('a target that does not respond yet is reported, and used when it does', async () => {
  const { url, said } = await startProxy('--target-uri', 'http://127.0.0.1:1')
  expect((await post(`${url}/mcp`, rpc('ping', 1))).status).toBe(503)
  await vi.waitFor(() => expect(said()).toContain('http://127.0.0.1:1/ does not respond yet'), 20_000)
})

test.each(['SIGINT', 'SIGTERM'] as const)('%s ends it: the port is free again', async signal => {
  const { end, url } = await startProxy('--target-uri', await target())
  expect(await end(signal)).toBe(signal === 'SIGINT' ? 130 : 143)
  await expect(fetch(url)).rejects.toThrow()
})

test('pages of other sites are refused, except for allowed origins', async () => {
  const { url } = await startProxy('--target-uri', await target(), '--allowed-origins', 'https://app.example')
  const from = async (origin: string) => (await post(`${url}/mcp`, rpc('ping', 1), { origin })).status
  expect(await from('https://evil.example')).toBe(403)
  expect(await from('https://app.example')).toBe(200)
})

test('the target gets the token and the headers that were given, and not those of the client', async () => {
  const { url } = await startProxy(
    ...['--target-uri', await target(), '--remote-forward-headers', 'X-Team=blue'],
    ...['--remote-auth-bearer-token', 'planted-token'],
  )
  const response = await post(`${url}/mcp`, rpc('ping', 1), {
    authorization: 'Bearer other',
    'x-team': 'red',
  })
  expect(await response.json()).toMatchObject({
    result: { headers: { authorization: 'Bearer planted-token', 'x-team': 'blue' } },
  })
})

test('callers log in with a token, which the target does not get', async () => {
  const provider = await identityProvider({ audience: AUDIENCE })
  const { url } = await startProxy(
    ...['--target-uri', await target(), '--oidc-issuer', provider.issuer, '--oidc-audience', AUDIENCE],
    ...['--oidc-insecure-allow-http', '--jwks-allow-private-ip', '--resource-url', AUDIENCE],
  )
  const refused = await post(`${url}/mcp`, rpc('ping', 1))
  expect(refused.status).toBe(401)
  expect(refused.headers.get('www-authenticate')).toContain('resource_metadata=')
  const metadata = await fetch(`${url}/.well-known/oauth-protected-resource`)
  expect(await metadata.json()).toMatchObject({
    resource: AUDIENCE,
    authorization_servers: [provider.issuer],
  })

  const authorization = `Bearer ${await provider.token()}`
  const allowed = await post(`${url}/mcp`, rpc('ping', 1), { authorization })
  expect(allowed.status).toBe(200)
  const { result } = (await allowed.json()) as { result: { headers: Record<string, string> } }
  expect(result.headers).not.toHaveProperty('authorization')
  const wrong = await post(`${url}/mcp`, rpc('ping', 1), { authorization: `${authorization}x` })
  expect(wrong.status).toBe(401)
})

test('certificates of --svc-ca-bundle are trusted at the target and at the identity provider', async () => {
  const provider = await identityProvider({ audience: AUDIENCE })
  const { path, listen } = await ownAuthority()
  const origin = await listen(async ({ url = '' }, response) => {
    response.setHeader('content-type', 'application/json')
    if (url !== '/jwks') return response.end('{"jsonrpc":"2.0","id":1,"result":{}}')
    response.end(await (await fetch(`${provider.issuer}/jwks`)).text())
  })
  const login = ['--oidc-jwks-url', `${origin}/jwks`, '--oidc-audience', AUDIENCE, '--jwks-allow-private-ip']
  const authorization = `Bearer ${await provider.token()}`
  const ask = async (...args: string[]) => {
    const { url } = await startProxy('--target-uri', origin, ...args)
    return (await post(`${url}/mcp`, rpc('ping', 1), { authorization })).status
  }

  expect(await ask('--svc-ca-bundle', path, ...login, '--oidc-allow', 'sub=service')).toBe(200)
  expect(await ask('--svc-ca-bundle', path)).toBe(200)
  expect(await ask()).toBe(502)
  expect(await ask(...login, '--oidc-allow', 'sub=service')).toBe(503)
})

test.each([
  [['notes'], 'needs to know where requests go'],
  [['notes', '--target-uri', 'ftp://x'], 'takes an http or https URL'],
  [['notes', '--target-uri', 'http://user:pass@127.0.0.1'], 'holds a user name or password'],
  [['notes', '--target-uri', 'http://127.0.0.1:1', '--host', '::1'], 'IPv4'],
  [
    ['notes', '--target-uri', 'http://127.0.0.1:1', '--oidc-audience', 'a'],
    'The settings for the login of callers are wrong',
  ],
])('wrong flags are refused: %j', async (args, text) => {
  const { run } = await keelsonUser()
  const { code, stderr } = await run(['proxy', ...args])
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(text) })
})
