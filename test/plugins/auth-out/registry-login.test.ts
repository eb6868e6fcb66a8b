import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readVariables } from '../../../plugins/auth-out/credentials/read-variables.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { identityProvider } from '../../support/identity-provider.ts'
import { post, rpc } from '../proxy/test-proxy.ts'
import { guardedServer, testHome } from './guarded-server.ts'
import { runAndLogIn } from './login-world.ts'

test('a server of the registry is logged in to as its entry says, and restarts without a browser', {
  timeout: 180_000,
}, async () => {
  const home = await testHome()
  const provider = await identityProvider()
  const server = await guardedServer()
  server.accept(({ authorization }) => authorization?.startsWith('Bearer ey') === true)
  const oauth_config = {
    ...{ issuer: provider.issuer, client_id: provider.clientId, resource: server.url, callback_port: 18_777 },
    ...{ scopes: ['openid', 'offline_access', 'read'], oauth_params: { login_hint: 'ada' }, use_pkce: false },
  }
  const far = { description: 'A server', url: server.url, transport: 'streamable-http', oauth_config }
  const registry = { version: '1.0.0', servers: {}, remote_servers: { far } }
  await writeFile(join(home.path, 'registry.json'), JSON.stringify(registry))
  await home.ok(['config', 'set-registry', join(home.path, 'registry.json')])

  const shown = await runAndLogIn(home, ['run', 'far', '--remote-auth-skip-browser'], provider)

  expect([shown.code, shown.visits]).toEqual([0, 1])
  const [authorize] = provider.asked.filter(({ path }) => path.startsWith('/auth?'))
  const asked = new URL(authorize?.path ?? '', provider.issuer).searchParams
  expect(Object.fromEntries(asked)).toMatchObject({
    ...{ client_id: provider.clientId, resource: server.url, login_hint: 'ada' },
    ...{ scope: 'openid offline_access read', redirect_uri: 'http://localhost:18777/callback' },
    code_challenge_method: 'S256',
  })
  expect((await post(shown.url, rpc('ping', 1))).status).toBe(200)
  await home.ok(['restart', 'far'])
  expect((await post(shown.url, rpc('ping', 2))).status).toBe(200)
})

test('variables with secrets are not for a server whose URL a registry entry or a file names', () => {
  const config: RunConfig = {
    schema_version: 'v0.1.0',
    name: 'far',
    transport: 'streamable-http',
    port: 0,
    registry_server_name: 'a/far',
    remote_url: 'https://far.example/mcp',
    remote_auth_config: { client_id: 'theirs' },
  }
  const env = { SVC_REMOTE_OAUTH_CLIENT_SECRET: 'mine', KEELSON_REMOTE_AUTH_BEARER_TOKEN: 'mine, too' }
  const said: string[] = []
  const warn = (text: string) => void said.push(text)
  const { registry_server_name: _, ...typed } = config

  expect(readVariables(config, env, { options: {}, warn })).toBe(config)
  expect(readVariables(typed, env, { options: { 'from-config': 'far.json' }, warn })).toBe(typed)

  expect(said).toHaveLength(2)
  expect(said.join()).toContain('KEELSON_REMOTE_AUTH_BEARER_TOKEN and SVC_REMOTE_OAUTH_CLIENT_SECRET')
  expect(said.join()).not.toContain('mine')
  expect(readVariables(typed, env, { options: {}, warn }).remote_auth_config).toEqual({
    client_id: 'theirs',
    client_secret: 'mine',
    bearer_token: 'mine, too',
  })
})
