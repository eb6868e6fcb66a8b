import { expect, test } from 'vitest'
import { until } from '../../e2e/home.ts'
import { identityProvider } from '../../support/identity-provider.ts'
import { sendJson } from '../../support/registry-server.ts'
import { post, rpc } from '../proxy/test-proxy.ts'
import { login, runAndLogIn, world } from './login-world.ts'

test('after its server has moved to another provider, a workload uses a login there without a restart', async () => {
  const { home, provider, server, status } = await world()
  const { url } = await runAndLogIn(home, login(server, 'far'), provider)
  expect((await post(url, rpc('ping', 1))).status).toBe(200)
  const old = server.asked.at(-1)?.headers.authorization
  const next = await identityProvider()
  server.answer((request, response, { pathname }) => {
    if (pathname.startsWith('/.well-known/')) {
      const scopes_supported = ['openid', 'offline_access']
      return sendJson(response, {
        resource: server.mcp,
        authorization_servers: [next.issuer],
        scopes_supported,
      })
    }
    const { authorization } = request.headers
    if (authorization && authorization !== old && next.asked.some(({ path }) => path === '/token'))
      return sendJson(response, {})
    response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
  })

  expect((await post(url, rpc('ping', 2))).status).toBe(503)
  await until(async () => expect((await status('far')).status).toBe('unauthenticated'))
  const again = await runAndLogIn(home, ['auth', 'login', 'far', '--skip-browser'], next)

  expect([again.code, again.visits]).toEqual([0, 1])
  await until(async () => expect((await post(url, rpc('ping', 3))).status).toBe(200))
  await until(async () => expect((await status('far')).status).toBe('running'))
})

test('a server that demands a login for some requests only is logged in to once it has', async () => {
  const { home, provider, server, status } = await world()
  server.answer(async (request, response, { pathname }) => {
    if (pathname.startsWith('/.well-known/')) {
      const scopes_supported = ['openid', 'offline_access']
      return sendJson(response, {
        resource: server.mcp,
        authorization_servers: [provider.issuer],
        scopes_supported,
      })
    }
    if (request.method === 'GET') return response.writeHead(405).end()
    let text = ''
    for await (const chunk of request) text += chunk
    if (text.includes('initialize') || request.headers.authorization) return sendJson(response, {})
    response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
  })
  const { url, visits } = await runAndLogIn(home, login(server, 'far'), provider)
  expect(visits).toBe(0)

  expect((await post(url, rpc('tools/list', 1))).status).toBe(503)
  await until(async () => expect((await status('far')).status).toBe('unauthenticated'))
  const again = await runAndLogIn(home, ['auth', 'login', 'far', '--skip-browser'], provider)

  expect([again.code, again.visits]).toEqual([0, 1])
  await until(async () => expect((await post(url, rpc('tools/list', 2))).status).toBe(200))
})
