import { expect, test } from 'vitest'
import { sendJson } from '../../support/registry-server.ts'
import { post, rpc, until } from '../proxy/test-proxy.ts'
import { login, runAndLogIn, world } from './login-world.ts'

test('missing scopes show in the status, and auth login asks for them besides the granted ones', {
  timeout: 240_000,
}, async () => {
  const { home, provider, server, status } = await world()
  const { url } = await runAndLogIn(home, login(server, 'far'), provider)
  expect((await post(url, rpc('ping', 1))).status).toBe(200)
  let wanted: string | undefined = 'Bearer error="insufficient_scope", scope="write"'
  server.answer((request, response, { pathname }) => {
    if (pathname.startsWith('/.well-known/')) {
      const scopes_supported = ['openid', 'offline_access']
      const authorization_servers = [provider.issuer]
      return sendJson(response, { resource: server.mcp, authorization_servers, scopes_supported })
    }
    if (!request.headers.authorization) response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
    else if (wanted) response.writeHead(403, { 'www-authenticate': wanted }).end()
    else sendJson(response, {})
  })

  const refused = await post(url, rpc('tools/call', 2, { name: 'write' }))

  expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('write')])
  await until(async () => (await status('far')).status === 'unauthenticated')
  expect((await status('far')).status_context).toContain('lacks rights for this request: write')
  wanted = undefined
  expect((await post(url, rpc('ping', 3))).status).toBe(200) // what needs less goes on

  const before = provider.asked.length
  const again = await runAndLogIn(home, ['auth', 'login', 'far', '--skip-browser'], provider)

  expect([again.code, again.err]).toEqual([
    0,
    expect.stringContaining('more rights than were granted: write'),
  ])
  const authorize = provider.asked.slice(before).find(({ path }) => path.startsWith('/auth?'))
  const scope = new URL(authorize?.path ?? '', provider.issuer).searchParams.get('scope')
  expect(scope?.split(' ').sort()).toEqual(['offline_access', 'openid', 'write'])
  await until(async () => {
    await post(url, rpc('ping', 4))
    return (await status('far')).status === 'running'
  })
})
