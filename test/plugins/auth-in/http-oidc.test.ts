import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { filesWith, guardedServer, testHome } from '../auth-out/guarded-server.ts'
import { serveHome } from '../auth-out/http-world.ts'
import { post, rpc } from '../proxy/test-proxy.ts'

const PATH = '/api/v1beta/workloads'
const SECRET = 'a-client-secret-of-a-request'

test('a login that a request asks for outlives edits that do not mention it, and its secret is in no file', {
  timeout: 120_000,
}, async () => {
  const home = await testHome()
  const [server, other] = [await guardedServer(), await guardedServer()]
  const api = await serveHome(home)
  const oidc = {
    ...{ issuer: 'https://login.test', audience: 'tools', jwks_url: '', client_id: 'proxy' },
    ...{ introspection_url: 'https://login.test/introspect', client_secret: SECRET },
    ...{ scopes: ['read'], allow: ['groups=staff'] },
  }
  const shown = { ...oidc, client_secret: '' }
  const details = async () =>
    (await api.ask('GET', `${PATH}/far`)).json() as { oidc: object; proxy_port: number }
  const stored = async () =>
    JSON.parse(await readFile(join(home.path, '.local/state/keelson/runconfigs/far.json'), 'utf8'))
      .oidc_config
  const edit = async (more: object) => (await api.ask('POST', `${PATH}/far/edit`, more)).status

  const plain = { ...oidc, issuer: 'http://login.test' }
  expect((await api.ask('POST', PATH, { name: 'far', url: server.url, oidc: plain })).status).toBe(400)
  expect((await api.ask('POST', PATH, { name: 'far', url: server.url, oidc })).status).toBe(201)
  const first = await details()
  expect(first.oidc).toEqual(shown)
  const { clientSecret } = await stored()
  expect(await filesWith(home, SECRET)).toEqual([])
  await api.untilStatus('far', 'running')
  expect((await post(`http://127.0.0.1:${first.proxy_port}/mcp`, rpc('ping', 1))).status).toBe(401)

  expect(await edit({ url: other.url })).toBe(200)
  expect((await details()).oidc).toEqual(shown)
  expect(await edit({ url: other.url, oidc: { ...shown, audience: 'others' } })).toBe(200)
  expect(await stored()).toMatchObject({ audience: 'others', clientSecret })
  const elsewhere = { ...shown, introspection_url: 'https://evil.test/introspect' }
  expect(await edit({ url: other.url, oidc: elsewhere })).toBe(200)
  expect((await stored()).clientSecret).toBeUndefined()
})
