import { lookup } from 'node:dns/promises'
import { beforeEach, expect, test, vi } from 'vitest'
import { fakeServer, imageManifest, MANIFEST_TYPE, send } from './fake-registry.ts'
import { ociClient } from './oci-client.ts'

/** Says where the registry is; connections go where they went before. */
vi.mock('node:dns/promises', () => ({ lookup: vi.fn() }))
const registryIsAt = (address: string) =>
  vi.mocked(lookup).mockResolvedValue([{ address, family: 4 }] as never)

beforeEach(() => vi.mocked(lookup).mockReset())

/** Something on this machine that nobody outside may ask. */
const internalService = () =>
  fakeServer((_, response) => send(response, imageManifest(), { 'content-type': MANIFEST_TYPE }))

test('a public registry cannot redirect to an address of this machine', async () => {
  const internal = await internalService()
  const registry = await fakeServer((_, response) =>
    response.writeHead(307, { location: `${internal.origin}/internal` }).end(),
  )
  registryIsAt('93.184.216.34')
  await expect(ociClient().manifest(`${registry.host}/app:1`)).rejects.toMatchObject({
    message: expect.stringContaining('127.0.0.1 is a private address'),
  })
  expect(internal.got).toEqual([])
})

test('a public registry cannot name a token service at an address of this machine', async () => {
  const internal = await internalService()
  const registry = await fakeServer((_, response) =>
    response.writeHead(401, { 'www-authenticate': `Bearer realm="${internal.origin}/token"` }).end(),
  )
  registryIsAt('93.184.216.34')
  await expect(ociClient().manifest(`${registry.host}/app:1`)).rejects.toMatchObject({
    message: expect.stringContaining('127.0.0.1 is a private address'),
  })
  expect(internal.got).toEqual([])
})

test('a registry in a private network can redirect to its own storage there', async () => {
  const internal = await internalService()
  const registry = await fakeServer((_, response) =>
    response.writeHead(307, { location: `${internal.origin}/storage` }).end(),
  )
  registryIsAt('10.1.2.3')
  await ociClient().manifest(`${registry.host}/app:1`)
  expect(internal.got).toMatchObject([{ path: '/storage' }])
})

test('a registry that a stranger named is not asked where it is in a private network', async () => {
  const registry = await internalService()
  const oci = ociClient().publicOnly()
  await expect(oci.manifest(`${registry.host}/app:1`)).rejects.toMatchObject({
    message: expect.stringContaining('127.0.0.1 is a private address'),
  })
  expect(registry.got).toEqual([])
})

test('a registry that the user has named for plain HTTP may be named by strangers too', async () => {
  const registry = await internalService()
  const oci = ociClient({ insecure: [registry.host] }).publicOnly()
  await oci.manifest(`${registry.host}/app:1`)
  expect(registry.got).toMatchObject([{ path: '/v2/app/manifests/1' }])
})
