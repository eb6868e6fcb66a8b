import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { publicHostProblem } from '../../../plugins/egress/index.ts'
import { readCatalogue } from '../../../plugins/registry/catalogue/built-in-catalogue.ts'
import { assertPublicImage, assertPublicRemote } from '../../../plugins/registry/entry-places.ts'
import { isRemote } from '../../../plugins/registry/formats/legacy.ts'
import { parseRegistry } from '../../../plugins/registry/formats/parse-registry.ts'
import type { ServerJson } from '../../../plugins/registry/formats/server-json.ts'
import { toView } from '../../../plugins/registry/formats/to-view.ts'
import { narrowPermissions } from '../../../plugins/registry/narrow-permissions.ts'
import { findWantedMounts } from '../../../plugins/registry/wanted-mounts.ts'
import { TRANSPORTS } from '../../../src/contracts/run-config.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const builtIn = { kind: 'default', place: 'built-in catalogue', allowsPrivate: false } as const

test('every entry of the built-in catalogue runs without a question', async () => {
  const { servers } = parseRegistry(readCatalogue(), 'catalogue').document

  for (const server of servers) {
    const view = toView(server)
    expect(TRANSPORTS, server.name).toContain(view.transport)
    if (isRemote(view)) {
      expect(publicHostProblem(new URL(view.url).hostname), server.name).toBeUndefined()
      continue
    }
    await assertPublicImage(server.name, view.image, builtIn)
    const permissions = view.permissions ?? {}
    expect(narrowPermissions(permissions).problems, server.name).toEqual([])
    const { mounts, problems } = await findWantedMounts(permissions, { cwd: '/', home: '/' })
    expect({ mounts, problems }, server.name).toEqual({ mounts: [], problems: [] })
  }
  expect(servers.length).toBeGreaterThan(60)
})

test.each([
  'api.example.com',
  '.amazonaws.com',
  '*.example.com',
  '.com',
  '8.8.8.8',
  '2606:4700::1111',
  'bücher.example',
])('%s may be a place on the internet', entry => {
  expect(publicHostProblem(entry)).toBeUndefined()
})

test.each([
  ['10.1', 'private'],
  ['0xa000001', 'private'],
  ['64:ff9b::7f00:1', 'loopback'],
  ['2002:7f00:1::', 'loopback'],
  ['0.0.0.0', 'this host'],
  ['100.100.100.200', 'metadata'],
  ['ＬＯＣＡＬＨＯＳＴ', 'this machine'],
  ['.internal', 'this machine'],
  ['*.local', 'this machine'],
  ['gateway.docker.internal', 'this machine'],
  ['nas.home.arpa', 'this machine'],
  ['kubernetes.default.svc', 'this machine'],
  ['wiki', 'without a dot'],
  ['a_b!', 'characters'],
  ['', 'empty'],
])('%s is not a public address', (entry, words) => {
  expect(publicHostProblem(entry)).toContain(words)
})

test('what narrows is kept, and nothing else', () => {
  const wanted = {
    name: 'none',
    read: ['/etc'],
    network: {
      mode: 'none',
      outbound: { allow_host: ['a.example.com'], allow_port: [443], insecure_allow_all: false, dns: 'x' },
    },
    cap_add: ['ALL'],
  }

  expect(narrowPermissions(wanted)).toEqual({
    profile: { network: { mode: 'none', outbound: { allow_host: ['a.example.com'], allow_port: [443] } } },
    problems: [],
  })
})

test('permissions of other types than they should have are refused', () => {
  const { problems } = narrowPermissions({
    privileged: 'no',
    network: { outbound: { allow_host: 'x' } },
  } as never)

  expect(problems).toHaveLength(2)
})

describe('mounts', () => {
  const makeFolders = async () => {
    const home = await temporaryFolder()
    await mkdir(join(home, 'projects'))
    await mkdir(join(home, '.ssh'))
    await writeFile(join(home, 'projects/file'), '')
    await symlink(join(home, '.ssh'), join(home, 'projects/harmless'))
    return { home, cwd: join(home, 'projects') }
  }

  test('are what they really are', async () => {
    const { home, cwd } = await makeFolders()

    const { mounts, problems } = await findWantedMounts(
      {
        read: ['harmless:/x', '~', '.', '../projects/./file', 'vscode://settings:x'],
        write: ['./file:/host'],
      },
      { home, cwd },
    )

    expect(problems).toEqual([])
    expect(mounts.map(({ access, source, target, remark }) => [access, source, target, remark])).toEqual([
      ['read', join(home, '.ssh'), '/x', 'a hidden folder of your home, often with keys and logins'],
      ['read', home, home, 'your home folder, with keys and logins'],
      ['read', cwd, cwd, undefined],
      ['read', join(cwd, 'file'), join(cwd, 'file'), undefined],
      ['write', join(cwd, 'file'), '/host', undefined],
    ])
  })

  test('within one that the server may change are problems, also behind links', async () => {
    const { home, cwd } = await makeFolders()
    await symlink(cwd, join(home, 'way'))

    const problemsOf = async (wanted: object) => (await findWantedMounts(wanted, { home, cwd })).problems
    expect(await problemsOf({ write: ['~/projects', '~/way/file:/s'], read: ['~/way/file:/t'] })).toEqual([
      `read "${cwd}/file": it lies in "${cwd}", which the server may change`,
      `write "${cwd}/file": it lies in "${cwd}", which the server may change`,
    ])
    expect(await problemsOf({ write: ['/:/all'], read: ['/etc'] })).toHaveLength(1)
    expect(await problemsOf({ read: ['~/projects'], write: ['~/projects/file', '~/.ssh'] })).toEqual([])
    expect(await problemsOf({ write: ['~/projects', '.:/same'] })).toEqual([])
  })

  test('have one hash whatever their order, and another one when any of them changes', async () => {
    const { home, cwd } = await makeFolders()
    const hash = async (wanted: object) => (await findWantedMounts(wanted, { home, cwd })).hash

    const one = await hash({ read: ['~/projects:/a', '/etc'] })
    expect(one).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(await hash({ read: ['/etc', '.:/a'] })).toBe(one)
    expect(await hash({ read: ['/etc', '.:/b'] })).not.toBe(one)
    expect(await hash({ read: ['/etc'], write: ['.:/a'] })).not.toBe(one)
    expect(await hash({})).toBeUndefined()
  })

  test('that cannot be made are problems', async () => {
    const { home, cwd } = await makeFolders()
    await mkdir(join(cwd, 'a\nb'))
    const wanted = [
      '',
      '.:/x) — harmless (',
      `.:/${'x'.repeat(300)}`,
      ':/x',
      '/no/such',
      'a\nb',
      '.:relative',
      '.:/a:/b',
      '.:/x;y',
    ]

    const { problems } = await findWantedMounts({ read: wanted }, { home, cwd })

    expect(problems).toHaveLength(wanted.length)
    expect(problems.join('')).not.toContain('\n')
  })
})

test('too many mounts to read are a problem', async () => {
  const wanted = { read: Array.from({ length: 21 }, (_, i) => `/etc:/${i}`) }

  const { problems } = await findWantedMounts(wanted, { home: '/', cwd: '/' })

  expect(problems).toEqual(['21 mounts, more than the 20 that an entry may ask for'])
})

describe('a server that a stranger names', () => {
  const api = { kind: 'api', place: 'https://registry.example.com', allowsPrivate: false } as const

  test.each([
    'http://127.0.0.1/mcp',
    'https://[::1]/',
    'http://0x7f.1/',
    'http://x.localhost/',
    'https://wiki/',
  ])('%s is refused from a public registry, and fronted from a private one', async url => {
    await expect(assertPublicRemote('a/b', url, api)).rejects.toMatchObject({ code: 'entry_refused' })
    await expect(assertPublicRemote('a/b', url, builtIn)).rejects.toMatchObject({ code: 'entry_refused' })
    await assertPublicRemote('a/b', url, { kind: 'file', place: '/r.json', allowsPrivate: false })
    await assertPublicRemote('a/b', url, { kind: 'api', place: 'http://127.0.0.1:1', allowsPrivate: true })
    // That the operator of a registry says it is private is not enough.
    const lying = { kind: 'api', place: 'http://127.0.0.1:1', allowsPrivate: false } as const
    await expect(assertPublicRemote('a/b', url, lying)).rejects.toMatchObject({ code: 'entry_refused' })
  })

  test('what publishers add has no say in what runs', () => {
    const server: ServerJson = {
      name: 'a/b',
      description: '',
      version: '1',
      packages: [{ registryType: 'oci', identifier: 'x:1', transport: { type: 'stdio' } }],
      _meta: {
        'io.modelcontextprotocol.registry/publisher-provided': {
          'io.github.stacklok': { x: { url: 'http://127.0.0.1/', image: 'other:1' } },
        },
      },
    }

    expect(toView(server)).toMatchObject({ image: 'x:1' })
    expect(isRemote(toView(server))).toBe(false)
  })

  test('a server.json hidden in the older format is checked like any other', () => {
    const hidden = { name: 'a/b', description: '', version: '1', packages: 'none' }
    const entry = {
      description: 'd',
      image: 'x:1',
      transport: 'stdio',
      custom_metadata: { 'io.modelcontextprotocol.registry/server-json': hidden },
    }
    const { document, problems } = parseRegistry(
      JSON.stringify({ servers: { x: entry, y: { image: 'y:1' } } }),
      'r',
    )

    expect(document.servers.map(({ name }) => name)).toEqual(['io.github.stacklok/y'])
    expect(problems.join()).toContain('packages')
  })
})
