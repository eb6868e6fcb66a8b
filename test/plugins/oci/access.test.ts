import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Credentials } from '../../../plugins/oci/credentials.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { type Answer, fakeServer, imageManifest, send } from './fake-registry.ts'
import { ociClient } from './oci-client.ts'

const PASSWORD = 'pass-word-9f8e7d'
const basicHeader = `Basic ${Buffer.from(`ann:${PASSWORD}`).toString('base64')}`
const withPassword: Credentials = { kind: 'password', username: 'ann', password: PASSWORD }
const found = (credentials?: Credentials) => async () => ({
  ...(credentials ? { credentials, source: '/home/ann/.docker/config.json' } : {}),
  problems: [],
})

/** A registry that wants a bearer token, which its own `/token` gives when `accepts` says so. */
async function bearerRegistry(
  accepts: (authorization: string | undefined, body: string) => boolean,
  options: { expires?: number; realm?: string } = {},
) {
  let origin = ''
  let issued = 0
  const server = await fakeServer((got, response) => {
    if (got.path === '/token') {
      if (!accepts(got.authorization, got.body)) return send(response, '{}', {}, 401)
      issued++
      const answer = { token: `token-${issued}`, expires_in: options.expires ?? 300 }
      return send(response, JSON.stringify(answer), { 'content-type': 'application/json' })
    }
    if (got.authorization === `Bearer token-${issued}` && issued) return send(response, imageManifest())
    const realm = options.realm ?? `${origin}/token`
    const challenge = `Bearer realm="${realm}",service="fake",scope="repository:app:pull"`
    return send(response, '{"errors":[]}', { 'www-authenticate': challenge }, 401)
  })
  origin = server.origin
  return server
}

/** Everything an error says, its causes among it. */
const allOf = (error: unknown): string =>
  error instanceof Error
    ? `${error.message} ${JSON.stringify(error)} ${error.stack} ${'hint' in error ? error.hint : ''} ${allOf(error.cause)}`
    : String(error)

async function errorOf(trial: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error = await trial.then(
    () => expect.fail('it should fail'),
    error => error,
  )
  expect(allOf(error)).not.toContain(PASSWORD)
  expect(allOf(error)).not.toContain(Buffer.from(`ann:${PASSWORD}`).toString('base64'))
  return error
}

describe('a token', () => {
  test('is got without credentials where that is enough', async () => {
    const registry = await bearerRegistry(authorization => authorization === undefined)
    const { kind } = await ociClient({ credentials: found() }).manifest(`${registry.host}/app:1`)

    expect(kind).toBe('manifest')
    const token = registry.got.find(({ path }) => path === '/token')
    expect(token?.query.get('service')).toBe('fake')
    expect(token?.query.getAll('scope')).toEqual(['repository:app:pull'])
  })

  test('is got with a password, which the registry itself never sees', async () => {
    const registry = await bearerRegistry(authorization => authorization === basicHeader)
    await ociClient({ credentials: found(withPassword) }).manifest(`${registry.host}/app:1`)

    const seen = registry.got
      .filter(({ path }) => path !== '/token')
      .map(({ authorization }) => authorization)
    expect(seen).toEqual([undefined, 'Bearer token-1'])
  })

  test('is got with an identity token, which travels in a body', async () => {
    const registry = await bearerRegistry(
      (_, body) => new URLSearchParams(body).get('refresh_token') === 'id-token',
    )
    const credentials = found({ kind: 'identity', token: 'id-token' })
    await ociClient({ credentials }).manifest(`${registry.host}/app:1`)

    const token = registry.got.find(({ path }) => path === '/token')
    expect(token?.method).toBe('POST')
    expect(Object.fromEntries(new URLSearchParams(token?.body))).toEqual({
      grant_type: 'refresh_token',
      client_id: 'keelson',
      refresh_token: 'id-token',
      scope: 'repository:app:pull',
      service: 'fake',
    })
  })

  test('is used again until it runs out', async () => {
    const registry = await bearerRegistry(() => true, { expires: 100 })
    let now = 0
    const oci = ociClient({ credentials: found(), now: () => now })
    const tokens = () => registry.got.filter(({ path }) => path === '/token').length

    await oci.manifest(`${registry.host}/app:1`)
    await oci.manifest(`${registry.host}/app:1`)
    expect(tokens()).toBe(1)
    now = 95_000
    await oci.manifest(`${registry.host}/app:1`)
    expect(tokens()).toBe(2)
  })

  test('that the registry refuses ends in a failure that says where the login came from', async () => {
    const registry = await bearerRegistry(() => false)
    const oci = ociClient({ credentials: found(withPassword) })
    const error = await errorOf(oci.manifest(`${registry.host}/app:1`))

    expect(error).toMatchObject({
      code: 'oci_denied',
      message: `${registry.host} gives no access to ${registry.host}/app:1 with the credentials in /home/ann/.docker/config.json.`,
      hint: expect.stringContaining(`docker login ${registry.host}`),
    })
  })

  test.each([
    ['another host, without TLS', 'http://token.example.com/token'],
    ['another host, when the registry itself has no TLS', 'https://token.example.com/token'],
    ['an address with a user name', 'http://a:b@127.0.0.1/token'],
    ['a file', 'file:///etc/passwd'],
    ['nothing', ''],
  ])('is not asked for at %s', async (_, realm) => {
    const registry = await bearerRegistry(() => true, { realm })
    const oci = ociClient({ credentials: found(withPassword) })

    expect(await errorOf(oci.manifest(`${registry.host}/app:1`))).toMatchObject({ code: 'oci_realm' })
    expect(registry.got).toHaveLength(1)
  })

  test.each([
    ['no JSON', 'nonsense'],
    ['no token', '{}'],
    ['null', 'null'],
    ['a token that is no header', JSON.stringify({ token: 'a\r\nb: c' })],
  ])('service that gives %s is a failure', async (_, body) => {
    let origin = ''
    const registry = await fakeServer((got, response) =>
      got.path === '/token'
        ? send(response, body)
        : send(response, '', { 'www-authenticate': `Bearer realm="${origin}/token"` }, 401),
    )
    origin = registry.origin
    const oci = ociClient({ credentials: found(withPassword) })

    expect(await errorOf(oci.manifest(`${registry.host}/app:1`))).toMatchObject({ code: 'oci_broken' })
  })
})

describe('basic authentication', () => {
  const basicRegistry = () =>
    fakeServer((got, response) =>
      got.authorization === basicHeader
        ? send(response, imageManifest())
        : send(response, '', { 'www-authenticate': 'Basic realm="fake"' }, 401),
    )

  test('sends the password only when asked', async () => {
    const registry = await basicRegistry()
    await ociClient({ credentials: found(withPassword) }).manifest(`${registry.host}/app:1`)

    expect(registry.got.map(({ authorization }) => authorization)).toEqual([undefined, basicHeader])
  })

  test('without credentials says how to log in', async () => {
    const registry = await basicRegistry()
    const error = await errorOf(ociClient({ credentials: found() }).manifest(`${registry.host}/app:1`))

    expect(error).toMatchObject({
      code: 'oci_denied',
      message: expect.stringContaining('without credentials'),
    })
  })

  test('does not follow a redirect to another host', async () => {
    const elsewhere = await fakeServer((_, response) => send(response, imageManifest()))
    const registry = await fakeServer((got, response) =>
      got.authorization
        ? response.writeHead(307, { location: `${elsewhere.origin}/blob?signature=secret` }).end()
        : send(response, '', { 'www-authenticate': 'Basic realm="fake"' }, 401),
    )
    await ociClient({ credentials: found(withPassword) }).manifest(`${registry.host}/app:1`)

    expect(elsewhere.got.map(({ authorization }) => authorization)).toEqual([undefined])
  })

  test('is not offered to a host that a redirect leads to, even when it asks', async () => {
    const elsewhere = await fakeServer((_, response) =>
      send(response, '', { 'www-authenticate': 'Basic realm="give"' }, 401),
    )
    const registry = await fakeServer((_, response) =>
      response.writeHead(307, { location: `${elsewhere.origin}/phish` }).end(),
    )
    const oci = ociClient({ credentials: found(withPassword) })

    expect(await errorOf(oci.manifest(`${registry.host}/app:1`))).toMatchObject({ code: 'oci_denied' })
    expect(elsewhere.got.map(({ authorization }) => authorization)).toEqual([undefined])
  })

  test('does not follow an upload address to another host', async () => {
    const elsewhere = await fakeServer((_, response) => send(response, '', {}, 201))
    const answer: Answer = (got, response) => {
      if (!got.authorization) return send(response, '', { 'www-authenticate': 'Basic realm="x"' }, 401)
      if (got.method === 'HEAD') return send(response, '', {}, 404)
      return response.writeHead(202, { location: `${elsewhere.origin}/upload` }).end()
    }
    const registry = await fakeServer(answer)
    const oci = ociClient({ credentials: found(withPassword) })

    expect(await errorOf(oci.pushBlob(`${registry.host}/app`, Buffer.from('x')))).toMatchObject({
      code: 'oci_broken',
      message: expect.stringContaining('an upload address without TLS'),
    })
    expect(elsewhere.got).toEqual([])
  })
})

describe('credentials are found', () => {
  const registryOf = async (expected: string) =>
    fakeServer((got, response) =>
      got.authorization === `Basic ${Buffer.from(expected).toString('base64')}`
        ? send(response, imageManifest())
        : send(response, '', { 'www-authenticate': 'Basic realm="fake"' }, 401),
    )
  const auth = (text: string) => ({ auth: Buffer.from(text).toString('base64') })

  test.each([
    ['the host', (host: string) => host],
    ['an address', (host: string) => `https://${host}/v1/`],
  ])("in docker's file, under %s", async (_, key) => {
    const registry = await registryOf('ann:one')
    const home = await temporaryFolder()
    await mkdir(join(home, '.docker'))
    const auths = { [key(registry.host)]: auth('ann:one'), 'example.com': auth('eve:two') }
    await writeFile(join(home, '.docker', 'config.json'), JSON.stringify({ auths }))

    await ociClient({ home }).manifest(`${registry.host}/app:1`)
  })

  test("in podman's file, the nearest namespace first, before docker's", async () => {
    const registry = await registryOf('bob:team')
    const home = await temporaryFolder()
    const run = join(home, 'run')
    await mkdir(join(run, 'containers'), { recursive: true })
    await mkdir(join(home, '.docker'))
    const auths = {
      [registry.host]: auth('bob:all'),
      [`${registry.host}/team`]: auth('bob:team'),
      [`${registry.host}/team/other`]: auth('bob:other'),
    }
    await writeFile(join(run, 'containers', 'auth.json'), JSON.stringify({ auths }))
    await writeFile(
      join(home, '.docker', 'config.json'),
      JSON.stringify({ auths: { [registry.host]: auth('x:y') } }),
    )

    await ociClient({ home, env: { XDG_RUNTIME_DIR: run } }).manifest(`${registry.host}/team/app:1`)
  })

  test('in the file that REGISTRY_AUTH_FILE names, and nowhere else then', async () => {
    const registry = await registryOf('ann:one')
    const home = await temporaryFolder()
    const file = join(home, 'auth.json')
    await writeFile(file, JSON.stringify({ auths: { [registry.host]: auth('ann:one') } }))

    await ociClient({ home, env: { REGISTRY_AUTH_FILE: file } }).manifest(`${registry.host}/app:1`)
  })

  async function withHelper(script: string, config: (host: string) => unknown, expected = 'ann:one') {
    const registry = await registryOf(expected)
    const home = await temporaryFolder()
    await mkdir(join(home, '.docker'))
    await mkdir(join(home, 'bin'))
    const program = join(home, 'bin', 'docker-credential-test')
    await writeFile(program, `#!/bin/sh\nread -r server\n${script}\n`)
    await chmod(program, 0o755)
    await writeFile(join(home, '.docker', 'config.json'), JSON.stringify(config(registry.host)))
    const oci = ociClient({ home, env: { PATH: `${join(home, 'bin')}:${process.env.PATH}` } })
    return { trial: oci.manifest(`${registry.host}/app:1`), host: registry.host }
  }
  const helpful = `echo "{\\"ServerURL\\":\\"$server\\",\\"Username\\":\\"ann\\",\\"Secret\\":\\"one\\"}"`

  test('by the helper of a registry', async () => {
    const { trial } = await withHelper(helpful, host => ({ credHelpers: { [host]: 'test' } }))
    await trial
  })

  test('by the helper of all registries', async () => {
    const { trial } = await withHelper(helpful, () => ({ credsStore: 'test' }))
    await trial
  })

  test('in the file when the helper has none', async () => {
    const none = 'echo "credentials not found in native keychain"; exit 1'
    const { trial } = await withHelper(none, host => ({
      credsStore: 'test',
      auths: { [host]: auth('ann:one') },
    }))
    await trial
  })

  test.each([
    ['fails', `echo ${PASSWORD}; exit 1`, 'docker-credential-test failed'],
    ['talks nonsense', `echo ${PASSWORD}`, 'does not print JSON'],
  ])('not by a helper that %s, and the failure does not repeat its output', async (_, script, problem) => {
    const { trial } = await withHelper(script, () => ({ credsStore: 'test' }))
    expect(await errorOf(trial)).toMatchObject({
      code: 'oci_denied',
      message: expect.stringContaining(problem),
    })
  })

  test.each([
    ['that is not installed', 'absent', 'docker-credential-absent is not installed'],
    ['whose name is a path', '../../bin/evil', 'not the name of a program'],
  ])('not by a helper %s', async (_, name, problem) => {
    const { trial } = await withHelper(helpful, () => ({ credsStore: name }))
    expect(await errorOf(trial)).toMatchObject({ message: expect.stringContaining(problem) })
  })

  test.each([
    '',
    '{',
    '[]',
    '"x"',
    `{"auths":{"x":"${PASSWORD}`,
    '{"auths":[],"credHelpers":7,"credsStore":{}}',
  ])('not in a file that holds %j, and nothing of it is repeated', async text => {
    const registry = await registryOf('ann:one')
    const home = await temporaryFolder()
    await mkdir(join(home, '.docker'))
    await writeFile(join(home, '.docker', 'config.json'), text)

    const error = await errorOf(ociClient({ home }).manifest(`${registry.host}/app:1`))
    expect(error.code).toBe('oci_denied')
  })
})
