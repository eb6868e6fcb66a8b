import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { confirmFiles } from '../../../plugins/auth-out/credentials/confirm-config.ts'
import { plainHttpWarning } from '../../../plugins/auth-out/plain-http-warning.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { type GuardedServer, guardedServer, testHome } from './guarded-server.ts'

const config = (remote_url: string, remote_auth_config?: RunConfig['remote_auth_config']): RunConfig => ({
  schema_version: 'v0.1.0',
  name: 'far',
  transport: 'streamable-http',
  port: 0,
  remote_url,
  ...(remote_auth_config ? { remote_auth_config } : {}),
})
const secretsSeenBy = ({ seen }: GuardedServer) => seen.flatMap(({ authorization }) => authorization ?? [])

test('a token of the environment is for a URL that was typed, not for one of a file or a registry entry', {
  timeout: 120_000,
}, async () => {
  const home = await testHome()
  const server = await guardedServer()
  const env = { KEELSON_REMOTE_AUTH_BEARER_TOKEN: 'of-the-variable' }
  await writeFile(join(home.path, 'far.json'), JSON.stringify(config(server.url)))
  const entry = { description: 'A server', url: server.url, transport: 'streamable-http' }
  const registry = { version: '1.0.0', servers: {}, remote_servers: { near: entry } }
  await writeFile(join(home.path, 'registry.json'), JSON.stringify(registry))
  await home.ok(['config', 'set-registry', join(home.path, 'registry.json')])

  const fromFile = await home.keelson(['run', '--from-config', 'far.json'], { env })
  const fromRegistry = await home.keelson(['run', 'near'], { env })

  for (const { code, stderr } of [fromFile, fromRegistry]) {
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('KEELSON_REMOTE_AUTH_BEARER_TOKEN: not given'),
    ])
  }
  expect(server.seen.length).toBeGreaterThan(0)
  expect(secretsSeenBy(server)).toEqual([])
})

test('a file of this user that a run config names is sent only when a flag names it, too', {
  timeout: 120_000,
}, async () => {
  const home = await testHome()
  const server = await guardedServer()
  const path = join(home.path, 'key')
  await writeFile(path, 'content-of-the-file')
  await writeFile(
    join(home.path, 'far.json'),
    JSON.stringify(config(server.url, { bearer_token_file: path })),
  )

  const refused = await home.keelson(['run', '--from-config', 'far.json'])

  expect([refused.code, server.seen]).toEqual([2, []])
  expect(refused.stderr).toContain(`The content of ${path} would go to ${server.url}`)
  expect(refused.stderr).toContain(`give --remote-auth-bearer-token-file ${path} as well`)
  await home.ok(['run', '--from-config', 'far.json', '--remote-auth-bearer-token-file', path])
  expect(JSON.parse(await home.ok(['list', '--format', 'json']))).toHaveLength(1)
})

test.each(['client_secret', 'private_key'])('the file with a %s is asked for in the same way', what => {
  const asked = config('https://far.example/mcp', { client_id: 'a', [`${what}_file`]: '/home/user/key' })
  const flag = `remote-auth-${what.replace('_', '-')}-file`
  const confirm = (options: object) => () => confirmFiles(asked, options)

  expect(confirm({ 'from-config': 'far.json' })).toThrow('would go to https://far.example/mcp')
  expect(confirm({ 'from-config': 'far.json', [flag]: '/other' })()).toMatchObject({
    remote_auth_config: { [`${what}_file`]: '/other' },
  })
  expect(confirm({})()).toBe(asked) // the person's own flags
})

test.each(['https://bank.example/mcp', '/of-others'])(
  'tokens for %s go to the server of a file only when a flag says so',
  {
    timeout: 120_000,
  },
  async where => {
    const home = await testHome()
    const server = await guardedServer()
    const resource = new URL(where, server.url).href
    const login = { issuer: 'https://login.invalid', resource }
    await writeFile(join(home.path, 'far.json'), JSON.stringify(config(server.url, login)))

    const refused = await home.keelson(['run', '--from-config', 'far.json'])
    const confirmed = await home.keelson([
      'run',
      '--from-config',
      'far.json',
      '--remote-auth-resource',
      resource,
    ])

    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain(`${server.url} would get tokens for ${resource}`)
    expect(refused.stderr).toContain(`give --remote-auth-resource ${resource} as well`)
    expect(confirmed.stderr).toContain('login.invalid') // it goes on to the login
  },
)

test.each([
  ['http://far.example/mcp', { bearer_token_file: '/a' }, 'far.example'],
  ['http://far.example/mcp', { cached_client_id: 'a' }, 'far.example'],
  ['http://10.0.0.7:8080/mcp', { bearer_token: 'a,target=bearer_token' }, '10.0.0.7:8080'],
  ['http://far.example/mcp', undefined, undefined],
  ['https://far.example/mcp', { bearer_token_file: '/a' }, undefined],
  ['http://127.0.0.1:8080/mcp', { bearer_token_file: '/a' }, undefined],
  ['http://[::1]/mcp', { bearer_token_file: '/a' }, undefined],
])('credentials for %s with %j: warned of %s', (url, auth, warned) => {
  const warning = plainHttpWarning(config(url, auth))
  if (warned === undefined) expect(warning).toBeUndefined()
  else expect(warning).toContain(`Credentials for ${warned} go over http`)
})

test('run says that a token goes over plain http, once, and in the log of the workload', {
  timeout: 120_000,
}, async () => {
  const home = await testHome()
  await writeFile(join(home.path, 'token'), 'a-token')
  const flags = ['--name', 'far', '--remote-auth-bearer-token-file', 'token']

  const { stderr } = await home.keelson(['run', 'http://localhost.:9/mcp', ...flags])

  expect(stderr.match(/Credentials for localhost\.:9 go over http/g)).toHaveLength(1)
  expect(await home.ok(['logs', 'far', '--proxy'])).toContain('Credentials for localhost.:9 go over http')
})
