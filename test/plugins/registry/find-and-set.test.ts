import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pagesOf, registryServer } from '../../support/registry-server.ts'
import { many, server, upstream, userOf } from './registry-user.ts'

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

test('the failure of an unknown name suggests near ones', async () => {
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

test('errors in a file are reported with their place', async () => {
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
