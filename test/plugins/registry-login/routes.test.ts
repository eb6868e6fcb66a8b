import { expect, test, vi } from 'vitest'
import { startApi } from '../../support/api-server.ts'
import { identityProvider } from '../../support/identity-provider.ts'
import { userWithSecrets } from '../../support/keelson.ts'
import { guardedRegistry } from './guarded-registry.ts'
import { recordingBrowser } from './person.ts'

// Keys are made from passwords, on purpose slowly.
vi.setConfig({ testTimeout: 180_000 })

const path = '/api/v1beta/registry'

test('a login over HTTP opens a browser on the machine of the server', async () => {
  const provider = await identityProvider()
  const registry = await guardedRegistry(provider)
  const user = await userWithSecrets()
  const opened = await recordingBrowser(user)
  const api = await startApi({ user })
  const auth = { issuer: provider.issuer, client_id: provider.clientId }
  await api.ask('PUT', `${path}/default`, { api_url: registry.url, allow_private_ip: true, auth })
  expect(await api.ask('GET', `${path}/default`)).toMatchObject({ status: 503 })

  const login = api.ask('POST', `${path}/auth/login`)
  await provider.visit(await opened())

  expect(await login).toMatchObject({ status: 200, text: '{"status":"authenticated"}\n' })
  const { text } = await api.ask('GET', `${path}/default`)
  expect(JSON.parse(text)).toMatchObject({ auth_status: 'authenticated', auth_config: auth, server_count: 1 })
  expect(api.log()).not.toContain('access_token')

  expect(await api.ask('POST', `${path}/auth/logout`)).toMatchObject({
    status: 200,
    text: '{"status":"logged_out"}\n',
  })
  const refused = await api.ask('GET', `${path}/default`)
  expect(JSON.parse(refused.text)).toMatchObject({ code: 'registry_auth_required' })
})

test.each(['login', 'logout'])('%s over HTTP is refused for the built-in catalogue', async word => {
  const api = await startApi()

  expect(await api.ask('POST', `${path}/auth/${word}`)).toMatchObject({ status: 400 })
})
