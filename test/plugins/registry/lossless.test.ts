import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isRemote, type ServerView } from '../../../plugins/registry/formats/legacy.ts'
import { fromLegacy, toLegacy, WHOLE } from '../../../plugins/registry/formats/lossless.ts'
import { parseRegistry } from '../../../plugins/registry/formats/parse-registry.ts'
import type { ServerJson } from '../../../plugins/registry/formats/server-json.ts'
import { toOwnName } from '../../../plugins/registry/formats/server-names.ts'
import { toView } from '../../../plugins/registry/formats/to-view.ts'
import { toLegacyRegistry, toUpstream } from '../../../plugins/registry/formats/write-registry.ts'
import { legacyImage, legacyName, legacyRemote, serverJson, skill } from './arbitraries.ts'

test('a server of the older format comes back from server.json with every member', () => {
  fc.assert(
    fc.property(
      legacyName,
      fc.oneof(legacyImage, legacyRemote) as fc.Arbitrary<ServerView>,
      (name, entry) => {
        const back = toLegacy(fromLegacy(name, entry))

        expect(back).toEqual({ name: toOwnName(name), entry })
        expect(back.entry.custom_metadata ?? {}).not.toHaveProperty([WHOLE])
      },
    ),
    { numRuns: 300 },
  )
})

test('a server.json comes back from the older format with every member', () => {
  fc.assert(
    fc.property(serverJson, server => {
      const { name, entry } = toLegacy(server)

      expect(fromLegacy(name, entry)).toEqual(server)
    }),
    { numRuns: 500 },
  )
})

test('what is written from the older format passes every limit of the published schema', () => {
  fc.assert(
    fc.property(
      legacyName,
      fc.oneof(legacyImage, legacyRemote) as fc.Arbitrary<ServerView>,
      (name, entry) => {
        const file = JSON.stringify({ version: '1.0.0', data: { servers: [fromLegacy(name, entry)] } })

        expect(parseRegistry(file, 'f', 'full').problems).toEqual([])
      },
    ),
    { numRuns: 200 },
  )
})

test('a whole registry survives both ways, skills and plugins in its own format', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(serverJson, { selector: s => s.name, maxLength: 4 }),
      fc.array(skill, { maxLength: 3 }),
      (servers, skills) => {
        const file = {
          version: '1.2.3',
          meta: { last_updated: '2026-01-02T03:04:05Z' },
          data: {
            servers,
            skills,
            plugins: [{ any: 1 }],
            groups: [{ name: 'g', description: 'd', servers }],
          },
        }
        const { document, problems } = parseRegistry(JSON.stringify(file), 'f')
        expect(problems).toEqual([])

        const upstream = parseRegistry(JSON.stringify(toUpstream(document)), 'f').document
        expect(upstream).toEqual(document)

        const legacy = parseRegistry(JSON.stringify(toLegacyRegistry(document)), 'f').document
        const byName = (list: readonly ServerJson[]) => [...list].sort((a, b) => (a.name < b.name ? -1 : 1))
        expect(byName(legacy.servers)).toEqual(byName(document.servers))
        expect(byName(legacy.groups[0]?.servers ?? [])).toEqual(byName(document.groups[0]?.servers ?? []))
      },
    ),
    { numRuns: 60 },
  )
})

test('an edit in the older format wins over the document that was kept', () => {
  const server: ServerJson = {
    name: 'com.example/files',
    description: 'Reads files',
    version: '2.0.0',
    icons: [{ src: 'https://example.com/i.png' }],
    packages: [{ registryType: 'oci', identifier: 'example/files:1', transport: { type: 'stdio' } }],
  }
  const { name, entry } = toLegacy(server)

  const edited = fromLegacy(name, { ...entry, description: 'Reads and writes files' })

  expect(edited).toEqual({ ...server, description: 'Reads and writes files' })
})

test('the extension cannot change what runs, nor under which name', () => {
  const view = toView({
    name: 'com.example/a',
    description: 'd',
    version: '1',
    packages: [{ registryType: 'oci', identifier: 'example/a:1', transport: { type: 'stdio' } }],
    _meta: {
      'io.modelcontextprotocol.registry/publisher-provided': {
        'io.github.stacklok': { k: { name: 'evil', image: 'evil:1', transport: 'sse', tier: 'Official' } },
      },
    },
  })

  expect(view).toMatchObject({
    name: 'com.example/a',
    image: 'example/a:1',
    transport: 'stdio',
    tier: 'Official',
  })
})

test('remotes win over packages, and an image over other packages', () => {
  const base = { name: 'com.example/a', description: 'd', version: '1' }
  const npm = { registryType: 'npm', identifier: '@a/b', version: '1.0.0', transport: { type: 'stdio' } }
  const oci = {
    registryType: 'oci',
    identifier: 'a/b',
    version: '2',
    transport: { type: 'sse', url: 'http://localhost:81/sse' },
  }
  const remotes = [{ type: 'sse', url: 'https://example.com/sse' }]

  expect(isRemote(toView({ ...base, packages: [oci], remotes }))).toBe(true)
  expect(toView({ ...base, packages: [npm, oci] })).toMatchObject({
    image: 'a/b:2',
    transport: 'sse',
    target_port: 81,
  })
  expect(toView({ ...base, packages: [npm] })).toMatchObject({ image: 'npx://@a/b@1.0.0' })
  expect(toView(base)).toMatchObject({ image: '' })
})

test('variables among the arguments for docker count as variables', () => {
  const view = toView({
    name: 'com.example/a',
    description: 'd',
    version: '1',
    packages: [
      {
        registryType: 'oci',
        identifier: 'a/b',
        transport: { type: 'stdio' },
        runtimeArguments: [
          {
            type: 'named',
            name: '-e',
            value: 'TOKEN={token}',
            variables: { token: { isSecret: true, isRequired: true } },
          },
          { type: 'named', name: '--env', value: 'MODE=fast' },
          { type: 'named', name: '--rm' },
        ],
      },
    ],
  })

  expect(view.env_vars).toEqual([
    { name: 'TOKEN', required: true, secret: true },
    { name: 'MODE', default: 'fast' },
  ])
})
