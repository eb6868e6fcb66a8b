import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { fakeServer, INDEX_TYPE, imageManifest, MANIFEST_TYPE, send, sha256 } from './fake-registry.ts'
import { ociClient } from './oci-client.ts'

const DIGEST = sha256('x')

describe('a registry that lies', () => {
  test('about the digest of a tag is found out', async () => {
    const registry = await fakeServer((_, response) =>
      send(response, imageManifest(), { 'content-type': MANIFEST_TYPE, 'docker-content-digest': DIGEST }),
    )
    await expect(ociClient().manifest(`${registry.host}/app:1`)).rejects.toMatchObject({
      code: 'oci_digest',
      message: expect.stringContaining(DIGEST),
    })
  })

  test('by sending another manifest than the digest names is found out', async () => {
    const registry = await fakeServer((_, response) => send(response, imageManifest()))
    await expect(ociClient().manifest(`${registry.host}/app@${DIGEST}`)).rejects.toMatchObject({
      code: 'oci_digest',
    })
  })

  test.each([
    ['changed', Buffer.from('bbbb'), 'oci_digest'],
    ['shorter', Buffer.from('aa'), 'oci_broken'],
    ['longer', Buffer.from('aaaaaaaa'), 'oci_too_large'],
  ])('by sending a blob that is %s is found out, and leaves no file', async (_, bytes, code) => {
    const registry = await fakeServer((_, response) => response.writeHead(200).end(bytes))
    const folder = await temporaryFolder()
    const descriptor = { mediaType: 'text/plain', digest: sha256('aaaa'), size: 4 }
    const oci = ociClient()

    const toFile = oci.blobToFile(`${registry.host}/app`, descriptor, join(folder, 'blob'))
    await expect(toFile).rejects.toMatchObject({ code })
    await expect(oci.blob(`${registry.host}/app`, descriptor)).rejects.toMatchObject({ code })
    expect(await readdir(folder)).toEqual([])
  })

  test('by sending without end is cut off', async () => {
    let sent = 0
    const registry = await fakeServer((_, response) => {
      response.writeHead(200, { 'content-type': MANIFEST_TYPE })
      const chunk = Buffer.alloc(65_536, ' ')
      const more = () => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length
      }
      response.on('drain', more)
      more()
    })
    await expect(ociClient().manifest(`${registry.host}/app:1`)).rejects.toMatchObject({
      code: 'oci_too_large',
    })
    expect(sent).toBeLessThan(32 * 1024 * 1024)
  })

  test('by announcing a huge manifest is refused before reading it', async () => {
    const registry = await fakeServer((_, response) =>
      response.writeHead(200, { 'content-length': 10 ** 12 }).flushHeaders(),
    )
    await expect(ociClient().manifest(`${registry.host}/app:1`)).rejects.toMatchObject({
      code: 'oci_too_large',
    })
  })

  test('by ending in the middle is a failure', async () => {
    const registry = await fakeServer((_, response) => {
      response.writeHead(200, { 'content-length': 100 })
      response.write('{')
      setImmediate(() => response.destroy())
    })
    await expect(ociClient().manifest(`${registry.host}/app:1`)).rejects.toMatchObject({ code: 'oci_broken' })
  })
})

describe('garbage is named as such:', () => {
  const index = { schemaVersion: 2, mediaType: INDEX_TYPE, manifests: [] }
  test.each([
    ['no JSON', 'hello', MANIFEST_TYPE, 'not JSON'],
    ['null', 'null', MANIFEST_TYPE, 'not a manifest'],
    ['an empty object', '{}', MANIFEST_TYPE, 'its'],
    ['a page', '<html>login</html>', 'text/html', 'not JSON'],
    ['an index that calls itself something else', JSON.stringify(index), MANIFEST_TYPE, 'but was sent as'],
    [
      'a manifest and an index at once',
      JSON.stringify({ ...index, layers: [] }),
      INDEX_TYPE,
      'a manifest and an index at once',
    ],
    [
      'a size below zero',
      imageManifest().toString().replaceAll('"size":2', '"size":-2'),
      MANIFEST_TYPE,
      'size',
    ],
    [
      'a digest that is a path',
      imageManifest().toString().replaceAll(sha256('{}'), 'sha256:../../../etc/passwd'),
      MANIFEST_TYPE,
      'digest',
    ],
  ])('%s', async (_, body, type, problem) => {
    const registry = await fakeServer((_, response) => send(response, body, { 'content-type': type }))
    await expect(ociClient().manifest(`${registry.host}/app:1`)).rejects.toMatchObject({
      code: 'oci_broken',
      message: expect.stringContaining(problem),
    })
  })

  test('a response that is not HTTP', async () => {
    const registry = await fakeServer((_, __, request) => {
      request.socket.end('SSH-2.0-OpenSSH_9.2\r\n')
    })
    await expect(ociClient().manifest(`${registry.host}/app:1`)).rejects.toMatchObject({ code: 'oci_broken' })
  })
})

describe('a registry in trouble', () => {
  test('is asked again after a pause of its choice', async () => {
    let asked = 0
    const registry = await fakeServer((_, response) =>
      ++asked < 3
        ? response.writeHead(asked === 1 ? 429 : 503, { 'retry-after': '7' }).end()
        : send(response, imageManifest()),
    )
    const oci = ociClient()
    await oci.manifest(`${registry.host}/app:1`)

    expect(oci.pauses).toEqual([7000, 7000])
  })

  test.each([
    [429, undefined, 3],
    [500, undefined, 3],
    [429, '3600', 1],
  ])('that keeps answering %s (Retry-After %s) is given up', async (status, retryAfter, times) => {
    const headers = retryAfter ? { 'retry-after': retryAfter } : {}
    const registry = await fakeServer((_, response) => response.writeHead(status, headers).end())
    await expect(ociClient().manifest(`${registry.host}/app:1`)).rejects.toMatchObject({
      code: 'oci_busy',
      message: expect.stringContaining(String(status)),
    })
    expect(registry.got).toHaveLength(times)
  })

  test('that does not respond is given up', async () => {
    const registry = await fakeServer(() => undefined)
    const trial = ociClient({ stepTimeoutMs: 200 }).manifest(`${registry.host}/app:1`)
    await expect(trial).rejects.toMatchObject({ code: 'oci_timeout' })
  })

  test('whose blob stops arriving is given up, and leaves no file', async () => {
    const registry = await fakeServer((_, response) => {
      response.writeHead(200).write('aa')
    })
    const folder = await temporaryFolder()
    const descriptor = { mediaType: 'text/plain', digest: sha256('aaaa'), size: 4 }
    const oci = ociClient({ stepTimeoutMs: 200 })

    const trial = oci.blobToFile(`${registry.host}/app`, descriptor, join(folder, 'blob'))
    await expect(trial).rejects.toMatchObject({ code: 'oci_timeout' })
    expect(await readdir(folder)).toEqual([])
  })

  test('that is not there is unreachable', async () => {
    await expect(ociClient().manifest('127.0.0.1:1/app:1')).rejects.toMatchObject({
      code: 'oci_unreachable',
      message: expect.stringContaining('127.0.0.1:1/app:1'),
    })
  })

  test('is left at once when the caller gives up', async () => {
    const controller = new AbortController()
    const registry = await fakeServer(() => controller.abort())
    const trial = ociClient().manifest(`${registry.host}/app:1`, { signal: controller.signal })
    await expect(trial).rejects.toMatchObject({ name: 'AbortError' })
    expect(registry.got).toHaveLength(1)
  })
})

describe('redirects', () => {
  test.each([
    ['in a circle', (origin: string) => `${origin}/v2/app/manifests/1`, 'redirects'],
    ['to plain http elsewhere', () => 'http://registry.example.com/x', 'plain http (registry.example.com)'],
    ['to a file', () => 'file:///etc/passwd', 'other than a web address'],
    ['to nonsense', () => 'http://[', 'no URL'],
  ])('%s are not followed', async (_, target, problem) => {
    let origin = ''
    const registry = await fakeServer((_, response) =>
      response.writeHead(302, { location: target(origin) }).end(),
    )
    origin = registry.origin
    await expect(ociClient().manifest(`${registry.host}/app:1`)).rejects.toMatchObject({
      code: 'oci_broken',
      message: expect.stringContaining(problem),
    })
  })

  test('with signed addresses leave no trace in an error', async () => {
    const store = await fakeServer((_, response) => response.writeHead(500).end())
    const registry = await fakeServer((_, response) =>
      response.writeHead(307, { location: `${store.origin}/blob?X-Signature=topsecret` }).end(),
    )
    const descriptor = { mediaType: 'text/plain', digest: DIGEST, size: 1 }
    const error = await ociClient()
      .blob(`${registry.host}/app`, descriptor)
      .catch(error => error)

    expect(error.code).toBe('oci_busy')
    expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toContain('topsecret')
  })
})

test.each(['UPPER/case', 'a b', 'x@sha256:short', 'http://host/app', ''])(
  '%j is not a reference',
  async reference => {
    await expect(ociClient().manifest(reference)).rejects.toMatchObject({ code: 'oci_reference' })
  },
)

describe('referrers', () => {
  const item = (letter: string, artifactType = 'application/x-sig') => ({
    mediaType: MANIFEST_TYPE,
    digest: `sha256:${letter.repeat(64)}`,
    size: 1,
    artifactType,
  })
  const page = (...manifests: unknown[]) =>
    JSON.stringify({ schemaVersion: 2, mediaType: INDEX_TYPE, manifests })
  const asIndex = { 'content-type': INDEX_TYPE }

  test('come page by page from the API, filtered here when the registry does not', async () => {
    const registry = await fakeServer((got, response) =>
      got.query.get('page') === '2'
        ? send(response, page(item('c'), item('a')), asIndex)
        : send(response, page(item('a'), item('b', 'application/x-other')), {
            ...asIndex,
            link: `</v2/app/referrers/${DIGEST}?page=2>; rel="next"`,
          }),
    )
    const found = await ociClient().referrers(`${registry.host}/app@${DIGEST}`, {
      artifactType: 'application/x-sig',
    })
    expect(found.map(({ digest }) => digest)).toEqual([item('a').digest, item('c').digest])
  })

  test('of a registry whose pages never end are given up', async () => {
    const registry = await fakeServer((_, response) =>
      send(response, page(), { ...asIndex, link: '<?again>; rel="next"' }),
    )
    await expect(ociClient().referrers(`${registry.host}/app@${DIGEST}`)).rejects.toMatchObject({
      code: 'oci_broken',
    })
    expect(registry.got.length).toBeLessThan(50)
  })

  test('are not looked for on another host', async () => {
    const elsewhere = await fakeServer((_, response) => send(response, page(item('e')), asIndex))
    const registry = await fakeServer((_, response) =>
      send(response, page(item('a')), { ...asIndex, link: `<${elsewhere.origin}/next>; rel="next"` }),
    )
    const found = await ociClient().referrers(`${registry.host}/app@${DIGEST}`)

    expect(found).toHaveLength(1)
    expect(elsewhere.got).toEqual([])
  })

  test.each([
    ['404', 404, 'text/plain'],
    ['405', 405, 'text/plain'],
    ['a page for people', 200, 'text/html'],
  ])('come from the tag where the API responds with %s', async (_, status, type) => {
    const registry = await fakeServer((got, response) =>
      got.path.includes('/referrers/')
        ? send(response, 'nothing here', { 'content-type': type }, status)
        : send(response, page(item('f')), asIndex),
    )
    const found = await ociClient().referrers(`${registry.host}/app@${DIGEST}`)

    expect(found.map(({ digest }) => digest)).toEqual([item('f').digest])
    expect(registry.got.at(-1)?.path).toBe(`/v2/app/manifests/${DIGEST.replace(':', '-')}`)
  })

  test('are not added to a fallback tag where the registry keeps them itself', async () => {
    const registry = await fakeServer((got, response) =>
      send(response, '', got.method === 'PUT' ? { 'oci-subject': DIGEST } : {}, 201),
    )
    const subject = { mediaType: MANIFEST_TYPE, digest: DIGEST, size: 1 }
    const manifest = { ...JSON.parse(imageManifest().toString()), subject }
    await ociClient().pushManifest(
      `${registry.host}/app:1`,
      Buffer.from(JSON.stringify(manifest)),
      MANIFEST_TYPE,
    )
    expect(registry.got.map(({ method }) => method)).toEqual(['PUT'])
  })
})
