import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { identityProvider } from '../../support/identity-provider.ts'
import { filesWith, guardedServer, testHome } from '../auth-out/guarded-server.ts'
import { post, rpc } from '../proxy/test-proxy.ts'

const loginAt = (issuer: string) => [
  ...['--oidc-issuer', issuer, '--oidc-audience', 'https://api.example'],
  ...['--oidc-insecure-allow-http', '--jwks-allow-private-ip'],
]

test('callers of a workload have to log in, and its server never gets their token', {
  timeout: 60_000,
}, async () => {
  const home = await testHome()
  const provider = await identityProvider()
  const server = await guardedServer()

  const url = (await home.ok(['run', server.url, '--name', 'far', ...loginAt(provider.issuer)])).trim()
  server.seen.length = 0

  const refused = await post(url, rpc('ping', 1))
  expect(refused.status).toBe(401)
  const [, metadataUrl = ''] =
    /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? []
  expect(await (await fetch(metadataUrl)).json()).toMatchObject({
    resource: url,
    authorization_servers: [provider.issuer],
  })
  expect(server.seen).toEqual([])

  const bearer = { authorization: `Bearer ${await provider.token()}` }
  expect((await post(url, rpc('ping', 1), bearer)).status).toBe(200)
  expect(server.seen.at(-1)?.authorization).toBeUndefined()
})

test('the client secret is in no file, and a stranger’s run config gets neither it nor a file', {
  timeout: 60_000,
}, async () => {
  const home = await testHome()
  const server = await guardedServer()
  const secret = 'a-client-secret-that-nobody-may-see'
  const login = [
    ...['--oidc-introspection-url', 'https://login.test/introspect', '--oidc-audience', 'tools'],
    ...['--oidc-client-id', 'proxy', '--oidc-client-secret', secret],
  ]
  await home.ok(['run', server.url, '--name', 'far', ...login])

  expect(await filesWith(home, secret)).toEqual([])
  await home.ok(['export', 'far', 'far.json'])
  const config = JSON.parse(await readFile(join(home.path, 'far.json'), 'utf8'))
  expect(config.oidc_config.clientSecret).toMatch(
    /^OIDC_CLIENT_SECRET_far_[0-9a-f]{16},target=oidc_client_secret$/,
  )

  const elsewhere = { ...config.oidc_config, introspectionURL: 'https://evil.test/introspect' }
  await writeFile(join(home.path, 'far.json'), JSON.stringify({ ...config, port: 0, oidc_config: elsewhere }))
  await home.ok(['rm', 'far'])
  const shown = await home.keelson(['run', '--from-config', 'far.json'])
  expect(shown.stderr).toContain('is not kept for this workload and this provider')

  const { clientSecret: _, ...open } = elsewhere
  for (const members of [
    { oidc_config: { ...open, ClientSecretFile: '/etc/hostname' } },
    { oidc_config: open, jwks_auth_token_file: '/etc/hostname' },
  ]) {
    await writeFile(join(home.path, 'far.json'), JSON.stringify({ ...config, port: 0, ...members }))
    const { stderr } = await home.keelson(['run', '--from-config', 'far.json'])
    expect(stderr).toContain('sends the content of the file /etc/hostname to an identity provider')
  }
})

test('beyond this machine, `run` warns unless callers have to log in', async () => {
  const home = await testHome({ secrets: false })
  const server = await guardedServer()
  const run = async (name: string, ...more: string[]) =>
    (await home.keelson(['run', server.url, '--name', name, '--host', '0.0.0.0', ...more])).stderr

  expect(await run('open')).toContain('nobody has to log in')
  expect(await run('guarded', ...loginAt('http://login.test'))).not.toContain('nobody has to log in')
})
