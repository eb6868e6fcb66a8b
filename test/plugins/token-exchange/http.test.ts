import { expect, test } from 'vitest'
import { claimsOf } from '../../support/exchange-grants.ts'
import { identityProvider } from '../../support/identity-provider.ts'
import { filesWith, guardedServer, testHome } from '../auth-out/guarded-server.ts'
import { serveHome } from '../auth-out/http-world.ts'
import { post, rpc } from '../proxy/test-proxy.ts'
import { AUDIENCE } from './exchange-world.ts'

const PATH = '/api/v1beta/workloads'

test('a request over HTTP makes a workload exchange tokens; its secret is shown nowhere and goes nowhere else', {
  timeout: 120_000,
}, async () => {
  const home = await testHome()
  const provider = await identityProvider({ exchanges: true, audience: AUDIENCE })
  const server = await guardedServer()
  server.accept(({ authorization }) => authorization !== undefined)
  const api = await serveHome(home)
  const { id: client_id, secret: client_secret } = provider.service
  const token_exchange_config = {
    ...{ token_url: `${provider.issuer}/token`, client_id, client_secret, scopes: null },
    audience: 'https://server.example',
  }
  const oidc_config = {
    Issuer: provider.issuer,
    Audience: AUDIENCE,
    InsecureAllowHTTP: true,
    AllowPrivateIP: true,
  }
  const details = async () =>
    (await api.ask('GET', `${PATH}/far`)).json() as {
      proxy_port: number
      token_exchange_config: Record<string, unknown>
    }
  const edit = (more: object) => api.ask('POST', `${PATH}/far/edit`, { url: server.url, ...more })

  const body = { name: 'far', url: server.url, oidc_config, token_exchange_config }
  expect((await api.ask('POST', PATH, body)).status).toBe(201)
  await api.untilStatus('far', 'running')
  const { proxy_port, token_exchange_config: shown } = await details()
  const bearer = { authorization: `Bearer ${await provider.sign({ sub: 'ada' })}` }
  expect((await post(`http://127.0.0.1:${proxy_port}/mcp`, rpc('ping', 1), bearer)).status).toBe(200)
  expect(claimsOf(server.seen.at(-1)?.authorization)).toMatchObject({ sub: 'ada' })
  expect(shown.client_secret).toMatch(/^TOKEN_EXCHANGE_SECRET_far_[0-9a-f]{16},target=token_exchange_secret$/)
  expect(await filesWith(home, client_secret)).toEqual([])

  expect((await edit({ ...(await details()), name: 'far' })).status).toBe(200)
  expect((await details()).token_exchange_config).toEqual(shown)
  const stolen = await edit({ token_exchange_config: { ...shown, token_url: 'https://evil.example/token' } })
  expect(stolen.status).toBeGreaterThanOrEqual(400)
  expect(stolen.text).toContain('is not kept for this workload and this endpoint')
  expect((await details()).token_exchange_config).toEqual(shown)
})
