import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { claimsOf } from '../../support/exchange-grants.ts'
import { identityProvider } from '../../support/identity-provider.ts'
import { filesWith, guardedServer, testHome } from '../auth-out/guarded-server.ts'
import { post, rpc } from '../proxy/test-proxy.ts'
import { startCommand } from '../proxy-command/running-command.ts'
import { AUDIENCE } from './exchange-world.ts'

const SERVER = 'https://server.example'

async function world() {
  const provider = await identityProvider({ exchanges: true, audience: AUDIENCE })
  const server = await guardedServer()
  return {
    provider,
    server,
    login: [
      ...['--oidc-issuer', provider.issuer, '--oidc-audience', AUDIENCE],
      ...['--oidc-insecure-allow-http', '--jwks-allow-private-ip'],
    ],
    exchange: [
      ...['--token-exchange-url', `${provider.issuer}/token`, '--token-exchange-audience', SERVER],
      ...['--token-exchange-client-id', provider.service.id],
    ],
  }
}

test('`run` exchanges tokens of callers; the secret of the client is in no file, and of no use elsewhere', {
  timeout: 60_000,
}, async () => {
  const home = await testHome()
  const { provider, server, login, exchange } = await world()
  // A server that demands a login: none is made, since callers bring their own.
  server.accept(({ authorization }) => authorization !== undefined)
  const secret = ['--token-exchange-client-secret', provider.service.secret]

  const shown = await home.keelson(['run', server.url, '--name', 'far', ...login, ...exchange, ...secret])
  expect(shown.stderr).toContain('can be read by everybody')
  const url = shown.stdout.trim()
  const bearer = { authorization: `Bearer ${await provider.sign({ sub: 'ada' })}` }

  expect((await post(url, rpc('ping', 1), bearer)).status).toBe(200)
  expect(claimsOf(server.seen.at(-1)?.authorization)).toMatchObject({ sub: 'ada', aud: SERVER })
  const before = server.seen.length
  expect((await post(url, rpc('ping', 1))).status).toBe(401)
  expect(server.seen).toHaveLength(before)

  await home.ok(['export', 'far', 'far.json'])
  expect(await filesWith(home, provider.service.secret)).toEqual([])
  const config = JSON.parse(await readFile(join(home.path, 'far.json'), 'utf8'))
  const { token_exchange_config: said } = config
  expect(said.client_secret).toMatch(/^TOKEN_EXCHANGE_SECRET_far_[0-9a-f]{16},target=token_exchange_secret$/)

  const evil = 'https://evil.example/token'
  const near = { name: 'near', container_name: 'near', port: 0 }
  const changed = { ...config, ...near, token_exchange_config: { ...said, token_url: evil } }
  await writeFile(join(home.path, 'near.json'), JSON.stringify(changed))
  const again = ['run', '--from-config', 'near.json', '--jwks-allow-private-ip']
  expect((await home.keelson(again)).stderr).toContain(`give --token-exchange-url ${evil} as well`)
  expect((await home.keelson([...again, '--token-exchange-url', evil])).stderr).toContain(
    'is not kept for this workload and this endpoint',
  )
})

test('`proxy` exchanges the token that it has for the server, with the secret of the environment', {
  timeout: 60_000,
}, async () => {
  const { provider, server, exchange } = await world()
  const token = await provider.sign({ sub: 'us' })
  const proxy = await startCommand(
    ['far', '--target-uri', server.url, '--remote-auth-bearer-token', token, ...exchange],
    { KEELSON_TOKEN_EXCHANGE_CLIENT_SECRET: provider.service.secret },
  )

  expect((await post(proxy.url, rpc('ping', 1))).status).toBe(200)

  expect(claimsOf(server.seen.at(-1)?.authorization)).toMatchObject({ sub: 'us', aud: SERVER })
  expect(JSON.stringify(server.seen)).not.toContain(token)
})

test('an exchange without anybody to log in is refused before anything starts', {
  timeout: 60_000,
}, async () => {
  const home = await testHome({ secrets: false })
  const { server, exchange } = await world()
  const shown = await home.keelson(['run', server.url, '--name', 'far', ...exchange])
  expect([shown.code, shown.stderr]).toEqual([2, expect.stringContaining('has no token to exchange')])
  expect(await home.ok(['list', '--all'])).not.toContain('far')
})
