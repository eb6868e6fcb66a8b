import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type ApiServer, startApi } from '../../support/api-server.ts'
import { keelsonUser } from '../../support/keelson.ts'

const asker = (api: ApiServer) => async (method: string, path: string, body?: unknown) => {
  const { status, text } = await api.ask(method, path, body)
  return status >= 400 || text === '' ? status : [status, JSON.parse(text)]
}

test('groups', async () => {
  const ask = asker(await startApi())
  const path = '/api/v1beta/groups'

  expect(await ask('GET', path)).toEqual([200, { groups: [{ name: 'default', registered_clients: [] }] }])
  expect(await ask('POST', path, { name: 'my team' })).toEqual([201, { name: 'my team' }])
  expect(await ask('POST', path, { name: 'my team' })).toBe(409)
  for (const name of ['', 'Team', ' a', 'a  b', '../a']) expect(await ask('POST', path, { name })).toBe(400)
  expect(await ask('GET', `${path}/my%20team`)).toEqual([200, { name: 'my team', registered_clients: [] }])
  expect(await ask('GET', `${path}/nowhere`)).toBe(404)
  expect(await ask('GET', `${path}/A`)).toBe(400)
  expect(await ask('DELETE', `${path}/default`)).toBe(400)
  expect(await ask('DELETE', `${path}/nowhere`)).toBe(404)
  expect(await ask('DELETE', `${path}/my%20team?with-workloads=true`)).toBe(204)
  expect(await ask('GET', `${path}/my%20team`)).toBe(404)
})

test('of many that make the same group at a time one wins', async () => {
  const api = await startApi()

  const answers = await Promise.all(
    Array.from({ length: 8 }, () => api.ask('POST', '/api/v1beta/groups', { name: 'a' })),
  )

  expect(answers.map(answer => answer.status).sort()).toEqual([201, ...Array.from({ length: 7 }, () => 409)])
})

test('clients', async () => {
  const api = await startApi()
  const ask = asker(api)
  const path = '/api/v1beta/clients'
  await ask('POST', '/api/v1beta/groups', { name: 'team' })

  expect(await ask('GET', path)).toEqual([200, []])
  expect(await ask('POST', path, { name: 'cursor' })).toEqual([200, { name: 'cursor', groups: ['default'] }])
  expect(await ask('POST', `${path}/register`, { names: ['zed', 'cursor'], groups: ['team'] })).toEqual([
    200,
    [
      { name: 'zed', groups: ['team'] },
      { name: 'cursor', groups: ['team'] },
    ],
  ])
  expect(await ask('GET', path)).toEqual([
    200,
    [
      { name: 'cursor', groups: ['default', 'team'] },
      { name: 'zed', groups: ['team'] },
    ],
  ])
  expect(await ask('POST', path, { name: 'emacs-17' })).toBe(400)
  expect(await ask('POST', path, {})).toBe(400)
  expect(await ask('POST', path, { name: 'cursor', groups: ['nowhere'] })).toBe(404)
  expect(await ask('POST', `${path}/register`, { names: [] })).toBe(400)
  expect(await ask('POST', `${path}/register`, { names: ['zed'], groups: ['nowhere'] })).toBe(404)
  const discovered = (await api.ask('GET', '/api/v1beta/discovery/clients')).json() as { clients: object[] }
  expect(discovered.clients).toContainEqual({
    ...{ client_type: 'zed', title: 'Zed', installed: false, registered: true },
    ...{ supports_skills: false, supports_plugins: false },
    file: expect.stringMatching(/zed.*settings\.json$/),
  })

  expect(await ask('DELETE', `${path}/cursor/groups/team`)).toBe(204)
  expect(await ask('DELETE', `${path}/cursor/groups/nowhere`)).toBe(404)
  expect(await ask('DELETE', `${path}/emacs-17`)).toBe(400)
  expect(await ask('POST', `${path}/unregister`, { names: ['zed'] })).toBe(204)
  expect(await ask('POST', `${path}/unregister`, { names: [] })).toBe(400)
  expect(await ask('DELETE', `${path}/cursor`)).toBe(204)
  expect(await ask('GET', path)).toEqual([200, []])
})

test('an unknown client is refused before a group holds it', async () => {
  const ask = asker(await startApi())

  expect(await ask('POST', '/api/v1beta/clients/register', { names: ['zed', 'emacs-17'] })).toBe(400)

  expect(await ask('GET', '/api/v1beta/clients')).toEqual([200, []])
})

test('secrets, under a password', async () => {
  const user = await keelsonUser()
  user.env.KEELSON_SECRETS_PASSWORD = 'correct horse battery'
  const api = await startApi({ user })
  const ask = asker(api)
  const path = '/api/v1beta/secrets'

  expect(await ask('GET', `${path}/default`)).toBe(404)
  expect(await ask('GET', `${path}/default/keys`)).toBe(404)
  expect(await ask('POST', `${path}/default/keys`, { key: 'a', value: 'b' })).toBe(404)
  expect(await ask('PUT', `${path}/default/keys/a`, { value: 'b' })).toBe(404)
  expect(await ask('DELETE', `${path}/default/keys/a`)).toBe(404)
  expect(await ask('POST', path, { provider_type: '' })).toBe(400)
  expect(await ask('POST', path, { provider_type: 'drawer' })).toBe(400)
  expect(await ask('POST', path, { provider_type: 'encrypted' })).toEqual([
    201,
    { provider_type: 'encrypted', message: expect.stringContaining('setup successfully') },
  ])

  expect(await ask('GET', `${path}/default`)).toEqual([
    200,
    {
      name: 'default',
      provider_type: 'encrypted',
      capabilities: { can_read: true, can_write: true, can_delete: true, can_list: true, can_cleanup: true },
    },
  ])
  expect(await ask('POST', `${path}/default/keys`, { key: '', value: 'b' })).toBe(400)
  expect(await ask('POST', `${path}/default/keys`, { key: 'a' })).toBe(400)
  expect(await ask('POST', `${path}/default/keys`, { key: 'a/b c', value: 'sesame-1' })).toEqual([
    201,
    { key: 'a/b c', message: expect.stringContaining('created') },
  ])
  expect(await ask('POST', `${path}/default/keys`, { key: 'a/b c', value: 'x' })).toBe(409)
  expect(await ask('POST', `${path}/default/keys`, { key: '__keelson_x', value: 'x' })).toBe(400)
  expect(await ask('PUT', `${path}/default/keys/a%2Fb%20c`, { value: 'sesame-2' })).toEqual([
    200,
    { key: 'a/b c', message: expect.stringContaining('updated') },
  ])
  expect(await ask('PUT', `${path}/default/keys/a%2Fb%20c`, { value: '' })).toBe(400)
  expect(await ask('PUT', `${path}/default/keys/nothing`, { value: 'x' })).toBe(404)
  expect(await ask('GET', `${path}/default/keys`)).toEqual([200, { keys: [{ key: 'a/b c' }] }])
  expect((await user.run(['secret', 'get', 'a/b c'])).stdout).toContain('sesame-2')
  expect(await ask('DELETE', `${path}/default/keys/nothing`)).toBe(404)
  expect(await ask('DELETE', `${path}/default/keys/a%2Fb%20c`)).toBe(204)

  const both = await Promise.all(
    [1, 2].map(() => ask('POST', `${path}/default/keys`, { key: 'race', value: 'x' })),
  )
  expect(both.map(answer => (Array.isArray(answer) ? answer[0] : answer)).sort()).toEqual([201, 409])

  expect(await ask('POST', path, { provider_type: 'environment' })).toEqual([
    201,
    { provider_type: 'environment', message: expect.stringContaining('reconfigured successfully') },
  ])
  expect(await ask('GET', `${path}/default/keys`)).toBe(405)
  expect(await ask('POST', `${path}/default/keys`, { key: 'a', value: 'b' })).toBe(405)
  expect(await ask('PUT', `${path}/default/keys/a`, { value: 'b' })).toBe(405)
  expect(await ask('DELETE', `${path}/default/keys/a`)).toBe(405)
  expect(api.log()).not.toContain('sesame')
})

test('the registry, and where it is read from', async () => {
  const user = await keelsonUser()
  const api = await startApi({ user })
  const ask = asker(api)
  const path = '/api/v1beta/registry'
  const file = join(user.home, 'mine.json')
  const entry = (name: string) => ({
    ...{ name, description: 'Tells the time', version: '1.0.0' },
    remotes: [{ type: 'streamable-http', url: 'https://time.test/mcp' }],
  })
  await writeFile(
    file,
    JSON.stringify({
      version: '1',
      data: { servers: [entry('test.a/time'), entry('test.b/time'), entry('test.b/x')] },
    }),
  )
  await writeFile(join(user.home, 'bad.json'), '{"data": 1}')

  expect(await ask('GET', path)).toMatchObject([
    200,
    { registries: [{ name: 'default', type: 'default', source: '' }] },
  ])
  expect(await ask('PUT', `${path}/default`, { local_path: file })).toEqual([200, { type: 'file' }])
  expect(await ask('GET', path)).toMatchObject([
    200,
    { registries: [{ type: 'file', source: file, server_count: 3 }] },
  ])
  expect(await ask('GET', `${path}/default`)).toMatchObject([
    200,
    {
      registry: {
        servers: {},
        remote_servers: { 'test.a/time': { url: 'https://time.test/mcp', tools: [] } },
      },
    },
  ])
  expect(await ask('GET', `${path}/default/servers`)).toMatchObject([
    200,
    { servers: [], remote_servers: [{ name: 'test.a/time' }, { name: 'test.b/time' }, { name: 'test.b/x' }] },
  ])
  for (const name of ['x', 'test.b%2Fx', 'test.b%252Fx']) {
    expect(await ask('GET', `${path}/default/servers/${name}`)).toMatchObject([
      200,
      { is_remote: true, remote_server: { name: 'test.b/x' } },
    ])
  }
  for (const name of ['nothing', 'time'])
    expect(await ask('GET', `${path}/default/servers/${name}`)).toBe(404)
  for (const tail of ['', '/servers', '/servers/x']) expect(await ask('GET', `${path}/mine${tail}`)).toBe(404)
  expect(await ask('POST', `${path}/default/refresh`)).toEqual([200, { status: 'refreshed' }])
  expect(await ask('POST', `${path}/mine/refresh`)).toBe(404)

  const set = (body: unknown) => ask('PUT', `${path}/default`, body)
  expect(await ask('PUT', `${path}/mine`, {})).toBe(404)
  expect(await set('{')).toBe(400)
  expect(await set({ url: 'https://a.test/x.json', local_path: file })).toBe(400)
  expect(await set({ local_path: join(user.home, 'nothing.json') })).toBe(400)
  expect(await set({ url: 'http://a.test/x.json' })).toBe(400)
  expect(await set({ local_path: file, auth: { issuer: 'https://a.test', client_id: 'x' } })).toBe(400)
  expect(await set({ local_path: join(user.home, 'bad.json') })).toBe(502)
  expect(await set({ url: 'https://nothing.invalid/x.json' })).toBe(504)
  expect(await set({ url: 'https://127.0.0.1:1/x.json' })).toBe(504)
  expect(await ask('GET', path)).toMatchObject([200, { registries: [{ source: file }] }])

  const v01 = '/registry/anything/v0.1'
  expect(await ask('GET', `${v01}/servers?q=TIME&limit=1&page=2`)).toMatchObject([
    200,
    { servers: [{ name: 'test.b/time' }], metadata: { total: 3, page: 2, limit: 1 } },
  ])
  expect(await ask('GET', `${v01}/servers?limit=999&page=9`)).toEqual([
    200,
    { servers: [], metadata: { total: 3, page: 9, limit: 200 } },
  ])
  expect(await ask('GET', `${v01}/servers?limit=-1&page=x`)).toMatchObject([
    200,
    { metadata: { page: 1, limit: 50 } },
  ])
  expect(await ask('GET', `${v01}/servers/test.b%2Fx/versions/latest`)).toMatchObject([
    200,
    { name: 'test.b/x' },
  ])
  expect(await ask('GET', `${v01}/servers/nothing/versions/latest`)).toBe(404)
  expect(await ask('GET', `${v01}/servers/%25zz/versions/latest`)).toBe(400)
  expect(await ask('GET', `${v01}/x/dev.toolhive/skills`)).toMatchObject([
    200,
    { skills: [], metadata: { total: 0 } },
  ])
  expect(await ask('GET', `${v01}/x/dev.toolhive/skills/a/b`)).toBe(404)
  const missing = await api.ask('GET', `${v01}/servers/nothing/versions/latest`)
  expect(missing.json()).toMatchObject({ code: 'not_found' })

  expect(await ask('POST', path, {})).toBe(501)
  expect(await ask('DELETE', `${path}/default`)).toBe(400)
  expect(await ask('DELETE', `${path}/mine`)).toBe(404)
  expect(await set({})).toEqual([200, { type: 'default' }])
  expect(await ask('GET', `${v01}/x/dev.toolhive/skills?limit=1`)).toMatchObject([200, { skills: [{}] }])
})

test('a registry that wants a login, or cannot be read any more, is 503 with its code', async () => {
  let status = 401
  const registry = createServer((_, response) => response.writeHead(status).end()).listen(0, '127.0.0.1')
  onTestFinished(() => void registry.close())
  await new Promise(resolve => registry.once('listening', resolve))
  const url = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`
  const api = await startApi()
  expect(
    (await api.ask('PUT', '/api/v1beta/registry/default', { api_url: url, allow_private_ip: true })).json(),
  ).toEqual({ type: 'api' })
  const reads = [
    '/api/v1beta/registry',
    '/api/v1beta/registry/default',
    '/api/v1beta/registry/default/servers',
    '/api/v1beta/registry/default/servers/x',
    '/registry/a/v0.1/servers',
    '/registry/a/v0.1/servers/x/versions/latest',
  ]
  const skills = '/registry/a/v0.1/x/dev.toolhive/skills'
  expect((await api.ask('GET', skills)).status).toBe(503)
  expect((await api.ask('GET', `${skills}/a/b`)).status).toBe(503)

  for (const [answer, code] of [
    [401, 'registry_auth_required'],
    [500, 'registry_unavailable'],
  ] as const) {
    status = answer
    for (const path of reads) {
      const { status, text } = await api.ask('GET', path)
      expect([path, status, JSON.parse(text)]).toEqual([path, 503, { code, message: expect.any(String) }])
    }
  }
})

test('a client file that cannot be edited is a conflict, and nothing is registered', async () => {
  const user = await keelsonUser()
  await mkdir(join(user.home, '.cursor'))
  await writeFile(join(user.home, '.cursor/mcp.json'), '{ "mcpServers": ')
  const ask = asker(await startApi({ user }))

  expect(await ask('POST', '/api/v1beta/clients', { name: 'cursor' })).toBe(409)

  expect(await ask('GET', '/api/v1beta/clients')).toEqual([200, []])
})
