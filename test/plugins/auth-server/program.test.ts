import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { auth } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { expect, onTestFinished, test } from 'vitest'
import { type Home, openHome, until } from '../../e2e/home.ts'
import { freePort } from '../../support/free-port.ts'
import { plantPackage, STRANGER } from '../../support/hostile/plant-package.ts'
import { application } from './application.ts'
import { plainProvider } from './plain-provider.ts'
import { providerOfTeam, SECRET } from './team-provider.ts'

async function testHome(): Promise<Home> {
  const home = await openHome()
  onTestFinished(() => home.close())
  await plantPackage(home.path)
  return home
}

/** Logs a new application in with nothing but the URL, and asks the server for its tools. */
async function logIn(url: string, { kept, provider } = application()) {
  const first = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider })
  await expect(new Client({ name: 'test', version: '1' }).connect(first as Transport)).rejects.toThrow()
  await first.finishAuth(kept.back?.searchParams.get('code') ?? '')
  const tools = async () => {
    const client = new Client({ name: 'test', version: '1' })
    const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider })
    await client.connect(transport as Transport)
    const { tools: found } = await client.listTools()
    await client.close()
    return found.map(({ name }) => name)
  }
  return { kept, provider, tools }
}

test('with one command a stdio server is behind a login, which outlives the supervisor and goes with the workload', {
  timeout: 180_000,
}, async () => {
  const home = await testHome()
  const provider = await providerOfTeam()
  const secret = join(home.path, 'client-secret')
  await writeFile(secret, SECRET, { mode: 0o600 })
  const port = String(await freePort())
  const url = await home.ok([
    ...['run', STRANGER, '--name', 'team', '--runtime', 'process', '--proxy-port', port],
    ...['--auth-server-upstream', provider.issuer, '--auth-server-client-id', 'keelson'],
    ...['--auth-server-client-secret-file', secret, '--auth-server-storage', 'sqlite'],
  ])
  expect(url.trim()).toBe(`http://127.0.0.1:${port}/mcp`)
  const { kept, provider: client, tools } = await logIn(url)
  expect(await tools()).not.toEqual([])

  await home.powerOff()
  await home.ok(['list']) // brings a supervisor up, and that the workload
  await until(() => tools())
  const { refresh_token: before } = kept.tokens ?? {}
  expect(await auth(client, { serverUrl: url })).toBe('AUTHORIZED')
  expect(kept.tokens?.refresh_token).not.toBe(before)
  expect(await tools()).not.toEqual([])

  const folder = join(home.path, '.local/state/keelson/auth-servers')
  expect(await readdir(join(folder, 'team'))).toContain('auth-server.sqlite')
  expect(JSON.stringify(await home.keelson(['logs', 'team', '--proxy']))).not.toContain(SECRET)
  await home.ok(['rm', 'team'])
  expect(await readdir(folder)).toEqual([])
  expect(await home.ok(['list', '--all'])).toContain('There are no workloads')
})

test('a file puts logins at two providers in front of a server, one of them without OpenID Connect', {
  timeout: 120_000,
}, async () => {
  const home = await testHome()
  const [first, second] = [await providerOfTeam(), await plainProvider()]
  await writeFile(join(home.path, 'client-secret'), SECRET, { mode: 0o600 })
  await writeFile(join(home.path, 'app-secret'), 'app-secret', { mode: 0o600 })
  const file = join(home.path, 'login.yaml')
  await writeFile(
    file,
    `allowed_logins: [sub=ada]
upstreams:
  - name: team
    type: oidc
    oidc_config: { issuer_url: "${first.issuer}", client_id: keelson, client_secret_file: client-secret }
  - name: notes
    type: oauth2
    oauth2_config:
      authorization_endpoint: ${second.origin}/authorize
      token_endpoint: ${second.origin}/token
      client_id: app
      client_secret_file: app-secret
      userinfo:
        endpoint_url: ${second.origin}/user
        field_mapping: { subject_fields: [id] }
`,
  )
  const run = ['run', STRANGER, '--name', 'two', '--runtime', 'process', '--auth-server-config', file]
  const { tools } = await logIn(await home.ok(run, { cwd: '/' }))
  expect(await tools()).not.toEqual([])
  expect(second.asked.map(({ path }) => path)).toContain('/user')

  await writeFile(file, 'upstreams: []\nstorag: {}\n')
  const wrong = await home.keelson([...run.slice(0, 2), '--name', 'three', '--auth-server-config', file])
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('storag')])
  expect(await home.ok(['list', '--all'])).not.toContain('three')
})
