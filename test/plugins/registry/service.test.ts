import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pagesOf, registryServer, sendJson } from '../../support/registry-server.ts'
import { HOUR, many, server, upstream, userOf } from './registry-user.ts'

test('without a setting the built-in catalogue is read, and nobody is asked', async () => {
  const { registry } = await userOf()

  const servers = await registry().servers()

  expect(servers.length).toBeGreaterThanOrEqual(60)
  expect(await registry().summary()).toMatchObject({ name: 'default', type: 'default', auth_status: 'none' })
})

test('an API wins over a URL, a URL over a file', async () => {
  const { registry, settings } = await userOf({
    registry_api_url: 'http://127.0.0.1:1',
    registry_url: 'http://127.0.0.1:2/r.json',
    local_registry_path: '/r.json',
  })

  expect(await registry().source()).toMatchObject({ kind: 'api', place: 'http://127.0.0.1:1' })
  await settings.change(() => ({ registry_api_url: undefined }))
  expect(await registry().source()).toMatchObject({ kind: 'url' })
  await settings.change(() => ({ registry_url: undefined }))
  expect(await registry().source()).toMatchObject({ kind: 'file', place: '/r.json' })
})

test('an API is read page by page', async () => {
  const api = await registryServer(pagesOf(many, 100))
  const { registry } = await userOf({ registry_api_url: api.url })

  const servers = await registry().servers()

  expect(servers.map(one => one.name)).toEqual(many.map(one => one.name))
  expect(api.asked).toHaveLength(3)
})

test('what an API said serves for an hour, then is asked for with validators', async () => {
  const api = await registryServer(pagesOf(many, 100))
  const { registry, pass } = await userOf({ registry_api_url: api.url })
  await registry().servers()
  await registry().servers()
  expect(api.asked).toHaveLength(3)

  pass(HOUR + 1)
  expect(await registry().servers()).toHaveLength(250)

  expect(api.asked.slice(3).map(one => one.status)).toEqual([304, 304, 304])
})

test('--refresh asks at once', async () => {
  const api = await registryServer(pagesOf(many.slice(0, 1), 100))
  const { registry } = await userOf({ registry_api_url: api.url })
  await registry().servers()
  api.answer(pagesOf(many.slice(0, 2), 100))

  expect(await registry().servers({ refresh: true })).toHaveLength(2)
})

test('while an API cannot be reached its cache is used for a week, with a warning', async () => {
  const api = await registryServer(pagesOf(many, 100))
  const { registry, pass, warnings } = await userOf({ registry_api_url: api.url })
  await registry().servers()
  await api.stop()
  pass(2 * HOUR)

  expect(await registry().servers()).toHaveLength(250)
  expect(warnings.join()).toContain('refuses connections')

  pass(8 * 24 * HOUR)
  await expect(registry().servers()).rejects.toMatchObject({ code: 'registry_unreachable' })
})

test.each([500, 503, 429])(
  'while an API responds with %d its cache is used, with a warning',
  async status => {
    const api = await registryServer(pagesOf(many, 100))
    const { registry, pass, warnings } = await userOf({ registry_api_url: api.url })
    await registry().servers()
    api.answer((_, response) => response.writeHead(status).end())
    pass(2 * HOUR)

    expect(await registry().servers()).toHaveLength(250)
    expect(warnings.join()).toContain(String(status))
  },
)

test('a running service sees a changed file', async () => {
  const { registry, home, settings } = await userOf()
  const path = join(home, 'r.json')
  await writeFile(path, upstream([server('a.b/one')]))
  await settings.change(() => ({ local_registry_path: path }))
  const service = registry()
  expect(await service.servers()).toHaveLength(1)

  await writeFile(path, upstream([server('a.b/one'), server('a.b/two')]))

  expect(await service.servers()).toHaveLength(2)
})

test('cached documents are not shown after the registry has refused the login', async () => {
  const api = await registryServer(pagesOf(many, 100))
  const { registry, pass } = await userOf({ registry_api_url: api.url })
  await registry().servers()
  api.answer((_, response) => response.writeHead(401).end())
  pass(2 * HOUR)

  await expect(registry().servers()).rejects.toMatchObject({ code: 'registry_auth_required' })
})

test('a bearer token goes along when somebody has logged in', async () => {
  const api = await registryServer(pagesOf(many.slice(0, 1), 100))
  const auth = { type: 'oauth' as const, oauth: { issuer: 'https://i.example', client_id: 'c' } }
  const { registry } = await userOf({ registry_api_url: api.url, registry_auth: auth })

  await registry('t0ken').servers()

  expect(api.asked[0]?.headers.authorization).toBe('Bearer t0ken')
  expect(await registry('t0ken').summary()).toMatchObject({
    auth_status: 'authenticated',
    auth_type: 'oauth',
  })
  expect(await registry().summary()).toMatchObject({ auth_status: 'configured' })
})

test.each([
  [
    'pages that repeat their cursor',
    (n: number) => ({ servers: [server(`a.b/s${n}`)], metadata: { nextCursor: 'x' } }),
    'never end',
  ],
  [
    'more servers than can be',
    (n: number) => ({ servers: many.concat(many, many, many), metadata: { nextCursor: `${n}` } }),
    'more than 10000',
  ],
  ['servers that are no list', () => ({ servers: 'many' }), 'servers'],
])('%s are an error', async (_, body, text) => {
  let n = 0
  const api = await registryServer((_request, response) => sendJson(response, body(n++)))
  const { registry } = await userOf({ registry_api_url: api.url })

  await expect(registry().servers()).rejects.toMatchObject({
    code: 'registry_invalid',
    message: expect.stringContaining(text),
  })
})

test('garbage is named with its place', async () => {
  const api = await registryServer((_, response) => response.end('{"servers": [\n  oops]}'))
  const { registry } = await userOf({ registry_api_url: api.url })

  await expect(registry().servers()).rejects.toMatchObject({
    code: 'registry_invalid',
    message: expect.stringContaining('line 2, column 3'),
  })
})

test('an API that stalls is given up after its time', async () => {
  const api = await registryServer(() => undefined)
  const { registry } = await userOf({ registry_api_url: api.url })

  await expect(registry().servers()).rejects.toMatchObject({ code: 'registry_unreachable', status: 504 })
})

test('one wrong entry costs only itself', async () => {
  const api = await registryServer((_, response) =>
    sendJson(response, {
      servers: [
        { server: server('a.b/good') },
        { server: { name: 7 } },
        null,
        {
          server: server('a.b/gone'),
          _meta: { 'io.modelcontextprotocol.registry/official': { status: 'deleted' } },
        },
      ],
      metadata: {},
    }),
  )
  const { registry, warnings } = await userOf({ registry_api_url: api.url })

  expect((await registry().servers()).map(one => one.name)).toEqual(['a.b/good'])
  expect(warnings.join()).toMatch(/Entries of .* are left out/)
})

test('a private address is refused unless it was allowed', async () => {
  const api = await registryServer(pagesOf(many, 100))
  const { registry, settings } = await userOf({ registry_api_url: api.url.replace('http:', 'https:') })
  await settings.change(() => ({ allow_private_registry_ip: undefined }))

  await expect(registry().servers()).rejects.toMatchObject({
    code: 'registry_unreachable',
    message: expect.stringContaining('private address'),
    hint: expect.stringContaining('--allow-private-ip'),
  })
  expect(api.asked).toEqual([])
})

test('a server of an API is looked up alone', async () => {
  const api = await registryServer(pagesOf([...many, server('com.example/fetch')], 100))
  const { registry } = await userOf({ registry_api_url: api.url })

  expect((await registry().get('com.example/fetch')).name).toBe('com.example/fetch')
  expect((await registry().get('fetch')).name).toBe('com.example/fetch')
  expect(api.asked.every(one => !one.path.includes('cursor'))).toBe(true)
})

test('a file on the network is sent again only when it has changed', async () => {
  let text = upstream([server('a.b/one')])
  const web = await registryServer((request, response) => {
    const etag = `"${text.length}"`
    if (request.headers['if-none-match'] === etag) return response.writeHead(304).end()
    response.writeHead(200, { etag }).end(text)
  })
  const { registry } = await userOf({ registry_url: `${web.url}/r.json` })

  await registry().servers()
  await registry().servers()
  text = upstream([server('a.b/one'), server('a.b/two')])
  expect(await registry().servers()).toHaveLength(2)

  expect(web.asked.map(one => one.status)).toEqual([200, 304, 200])
})

test('a cache file that is damaged is dropped and fetched anew', async () => {
  const web = await registryServer((_, response) => response.end(upstream([server('a.b/one')])))
  const { registry, paths } = await userOf({ registry_url: `${web.url}/r.json` })
  await registry().servers()
  const folder = join(paths.cache, 'registry')
  const [name = ''] = await readdir(folder)
  await writeFile(join(folder, name), '{"url": 1')

  expect(await registry().servers()).toHaveLength(1)
  expect(JSON.parse(await readFile(join(folder, name), 'utf8'))).toHaveProperty('pages')
})

test('an unreachable registry is an error, not the built-in catalogue', async () => {
  const { registry } = await userOf({ registry_url: 'http://127.0.0.1:1/r.json' })
  await expect(registry().servers()).rejects.toMatchObject({ code: 'registry_unreachable' })

  const file = await userOf({ local_registry_path: '/nowhere/r.json' })
  await expect(file.registry().servers()).rejects.toMatchObject({ code: 'file_missing' })
})

test('a file of the older format is read, its groups too', async () => {
  const { registry, home, settings } = await userOf()
  const path = join(home, 'r.json')
  await writeFile(
    path,
    JSON.stringify({
      version: '1.0.0',
      servers: { a: { image: 'a:1', transport: 'stdio', description: 'A' } },
      remote_servers: { b: { url: 'https://b.example', transport: 'sse', description: 'B' } },
      groups: [{ name: 'g', servers: { c: { image: 'c:1', transport: 'stdio', description: 'C' } } }],
    }),
  )
  await settings.change(() => ({ local_registry_path: path }))

  expect((await registry().servers()).map(one => one.name)).toEqual([
    'io.github.stacklok/a',
    'io.github.stacklok/b',
    'io.github.stacklok/c',
  ])
  expect((await registry().get('c')).name).toBe('io.github.stacklok/c')
})
