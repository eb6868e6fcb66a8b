import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createRegistry } from '../../../plugins/registry/service.ts'
import type { RegistryTokens } from '../../../plugins/registry/tokens.ts'
import { createSettings, type SettingsChange } from '../../../plugins/settings/service.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'
import { pagesOf, registryServer, sendJson } from '../../support/registry-server.ts'

const TIMEOUTS = { answerMs: 1000, listMs: 2000, probeMs: 500 }
const HOUR = 3_600_000

/** Somebody has logged in. */
const knows = (token: string): RegistryTokens => ({
  find: async () => token,
  has: async () => true,
  login: async () => ({ issuer: 'https://i.example', client_id: 'c' }),
  logout: async () => undefined,
  forget: async () => undefined,
})

async function userOf(change: SettingsChange = {}) {
  const home = await mkdtemp(join(tmpdir(), 'keelson-registry-'))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  const paths = findPaths({ HOME: home })
  const settings = createSettings({ paths })
  await settings.change(() => ({ allow_private_registry_ip: true, ...change }))
  const warnings: string[] = []
  let now = 1_000_000_000_000
  const log = createLog({ write: line => warnings.push(line), human: true, debug: false })
  /** A new process of the same user. */
  const registry = (tokens?: string) =>
    createRegistry({
      paths,
      settings,
      log,
      timeouts: TIMEOUTS,
      clock: () => now,
      ...(tokens ? { tokens: async () => knows(tokens) } : {}),
    })
  const pass = (ms: number) => {
    now += ms
  }
  return { home, paths, settings, warnings, registry, pass }
}

const server = (name: string, extra: object = {}) => ({
  name,
  description: `About ${name}`,
  version: '1.0.0',
  packages: [
    { registryType: 'oci', identifier: `example/${name.split('/')[1]}:1`, transport: { type: 'stdio' } },
  ],
  ...extra,
})
const upstream = (servers: object[]) => JSON.stringify({ version: '1.0.0', meta: {}, data: { servers } })
const many = Array.from({ length: 250 }, (_, i) => server(`com.example/s${String(i).padStart(3, '0')}`))

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

  expect(await registry().source()).toEqual({ kind: 'api', place: 'http://127.0.0.1:1' })
  await settings.change(() => ({ registry_api_url: undefined }))
  expect(await registry().source()).toMatchObject({ kind: 'url' })
  await settings.change(() => ({ registry_url: undefined }))
  expect(await registry().source()).toEqual({ kind: 'file', place: '/r.json' })
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

test('an API that cannot be reached is answered from the cache for a week, with a warning', async () => {
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
  'an API that answers %d is answered from the cache, with a warning',
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

test('a file that has changed is seen by a service that lives on', async () => {
  const { registry, home, settings, pass } = await userOf()
  const path = join(home, 'r.json')
  await writeFile(path, upstream([server('a.b/one')]))
  await settings.change(() => ({ local_registry_path: path }))
  const service = registry()
  expect(await service.servers()).toHaveLength(1)

  await writeFile(path, upstream([server('a.b/one'), server('a.b/two')]))
  pass(10_000)

  expect(await service.servers()).toHaveLength(2)
})

test('what was said before is not shown to somebody who is not let in any more', async () => {
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

test('a short name that several have is refused, naming them', async () => {
  const { registry, home, settings } = await userOf()
  const path = join(home, 'r.json')
  await writeFile(path, upstream([server('a.b/fetch'), server('c.d/fetch')]))
  await settings.change(() => ({ local_registry_path: path }))

  await expect(registry().get('fetch')).rejects.toMatchObject({
    code: 'server_ambiguous',
    message: expect.stringContaining('"a.b/fetch", "c.d/fetch"'),
  })
  expect((await registry().get('c.d/fetch')).name).toBe('c.d/fetch')
})

test('an unknown name brings near ones to mind', async () => {
  const { registry } = await userOf()

  await expect(registry().get('filesytem')).rejects.toMatchObject({
    code: 'server_unknown',
    hint: expect.stringContaining('filesystem'),
  })
})

test('search puts the name first, then names, then descriptions, and forgives a slip', async () => {
  const { registry, home, settings } = await userOf()
  const path = join(home, 'r.json')
  const servers = [
    server('a.b/zzz', { description: 'Talks to github' }),
    server('a.b/github-tools'),
    server('a.b/github'),
    server('a.b/other', { description: 'Nothing of the kind' }),
  ]
  await writeFile(path, upstream(servers))
  await settings.change(() => ({ local_registry_path: path }))
  const names = async (query: string) => (await registry().search(query)).map(one => one.name)

  expect(await names('github')).toEqual(['a.b/github', 'a.b/github-tools', 'a.b/zzz'])
  expect((await names('githbu'))[0]).toBe('a.b/github')
  expect(await names('ithu')).toContain('a.b/github')
  expect(await names('nosuchthing')).toEqual([])
})

test('search finds what one publisher has, but no namespace by the words that most begin with', async () => {
  const { registry } = await userOf()
  const found = async (query: string) => (await registry().search(query)).length

  expect(await found('stacklok')).toBe((await registry().servers()).length)
  expect(await found('io.github.stacklok/')).toBe((await registry().servers()).length)
  expect(await found('github')).toBeLessThan(10)
  expect(await found('git')).toBeLessThan(15)
  expect(await found('io')).toBeLessThan(40)
})

test.each(['not a url', 'http://i.example', 'https://ada:s3cret@i.example', 'https://i.example?x=1'])(
  'the issuer %s is refused before anything is asked or stored',
  async issuer => {
    const { registry, settings } = await userOf()
    const change = { source: 'https://r.example', allowPrivate: false, cwd: '/' }

    const failed = registry().setSource({ ...change, auth: { issuer, client_id: 'c' } })

    await expect(failed).rejects.toMatchObject({
      code: 'usage',
      message: expect.not.stringContaining('s3cret'),
    })
    expect(await settings.get('registry_api_url')).toBeUndefined()
  },
)

test('setting a registry replaces the one before and its login, as one step', async () => {
  const api = await registryServer(pagesOf(many, 100))
  const { registry, settings } = await userOf({
    local_registry_path: '/old.json',
    registry_auth: { type: 'oauth', oauth: { issuer: 'https://i', client_id: 'c' } },
  })

  const detected = await registry().setSource({ source: api.url, allowPrivate: true, cwd: '/' })

  expect(detected.kind).toBe('api')
  expect(await settings.get('registry_api_url')).toBe(api.url)
  expect(await settings.get('local_registry_path')).toBeUndefined()
  expect(await settings.get('registry_auth')).toBeUndefined()
})

test('a registry that cannot be used leaves the one before, its login too', async () => {
  const web = await registryServer((_, response) => response.end('<html>'))
  const auth = { type: 'oauth' as const, oauth: { issuer: 'https://i', client_id: 'c' } }
  const { registry, settings } = await userOf({
    registry_api_url: 'https://kept.example',
    registry_auth: auth,
  })

  await expect(registry().setSource({ source: web.url, allowPrivate: true, cwd: '/' })).rejects.toMatchObject(
    {
      code: 'registry_invalid',
    },
  )

  expect(await settings.get('registry_api_url')).toBe('https://kept.example')
  expect(await settings.get('registry_auth')).toEqual(auth)
})

test.each([
  ['an empty registry', upstream([]), 'registry_empty'],
  ['a wrong entry', '{"version": "1.0.0", "data": {"servers": [\n  {"name": 5}]}}', 'registry_invalid'],
  ['no JSON', 'nope', 'registry_invalid'],
  ['no registry', '{"hello": 1}', 'registry_invalid'],
])('%s is refused when it is set', async (_, text, code) => {
  const { registry, home } = await userOf()
  await writeFile(join(home, 'r.json'), text)

  await expect(
    registry().setSource({ source: 'r.json', allowPrivate: false, cwd: home }),
  ).rejects.toMatchObject({ code })
})

test('what is wrong in a file is told with its place', async () => {
  const { registry, home } = await userOf()
  await writeFile(
    join(home, 'r.json'),
    '{"version": "1.0.0", "data": {"servers": [\n  {"name": "a.b/c", "version": 5}]}}',
  )

  await expect(
    registry().setSource({ source: 'r.json', allowPrivate: false, cwd: home }),
  ).rejects.toMatchObject({
    message: expect.stringMatching(/data\.servers\[0\]\.version \(line 2, column 32\): expected a string/),
  })
})

test.each([
  'ftp://example.com/r.json',
  'http://example.com/r.json',
  'registry.yaml',
  'https://me:pw@example.com/r.json',
])('%s is refused as a registry', async source => {
  const { registry, settings } = await userOf()
  const failure = await registry()
    .setSource({ source, allowPrivate: false, cwd: '/' })
    .catch(error => error)

  expect(failure).toMatchObject({ code: 'source_invalid' })
  expect(failure.message).not.toContain('pw')
  expect(await settings.get('registry_url')).toBeUndefined()
})
