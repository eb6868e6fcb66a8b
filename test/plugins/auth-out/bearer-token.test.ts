import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { post, rpc, until } from '../proxy/test-proxy.ts'
import { filesWith, guardedServer, testHome } from './guarded-server.ts'

const TOKEN = 'a-token-that-nobody-else-may-see'
const wants = (token: string) => (headers: { authorization?: string | undefined }) =>
  headers.authorization === `Bearer ${token}`

test('a token from a flag reaches the server instead of the client’s own, and no file', {
  timeout: 60_000,
}, async () => {
  const home = await testHome()
  const server = await guardedServer()
  server.accept(wants(TOKEN))

  const url = (
    await home.ok(['run', server.url, '--name', 'far', '--remote-auth-bearer-token', TOKEN])
  ).trim()

  const answer = await post(url, rpc('ping', 1), { authorization: 'Bearer of the client' })
  expect(answer.status).toBe(200)
  expect(server.seen.at(-1)?.authorization).toBe(`Bearer ${TOKEN}`)
  expect(await filesWith(home, TOKEN)).toEqual([])
})

test('an export names the stored token, which goes with the workload', async () => {
  const home = await testHome()
  const server = await guardedServer()
  await home.ok(['run', server.url, '--name', 'far', '--remote-auth-bearer-token', TOKEN])

  await home.ok(['export', 'far', 'far.json'])
  const { remote_auth_config: auth } = JSON.parse(await readFile(join(home.path, 'far.json'), 'utf8'))
  expect(auth).toEqual({
    bearer_token: expect.stringMatching(/^BEARER_TOKEN_far_[0-9a-f]{16},target=bearer_token$/),
  })

  await home.ok(['rm', 'far'])
  const again = await home.keelson(['run', '--from-config', 'far.json'])
  expect(again.code).toBe(1)
  expect(again.stderr).toContain('There is no secret "BEARER_TOKEN_far_')
})

test('a stored token is not sent to another server than it was given for', async () => {
  const home = await testHome()
  const [server, thief] = [await guardedServer(), await guardedServer()]
  await home.ok(['run', server.url, '--name', 'far', '--remote-auth-bearer-token', TOKEN])
  await home.ok(['export', 'far', 'far.json'])
  const config = JSON.parse(await readFile(join(home.path, 'far.json'), 'utf8'))
  const changed = { ...config, name: 'near', container_name: 'near', port: 0, remote_url: thief.url }
  await writeFile(join(home.path, 'near.json'), JSON.stringify(changed))

  const shown = await home.keelson(['run', '--from-config', 'near.json'])

  expect(shown.code).toBe(1)
  expect(shown.stderr).toContain(`was given for another server than ${thief.origin}`)
  expect(thief.seen).toEqual([])
})

test('the token of a file is sent as the file says now', async () => {
  const home = await testHome({ secrets: false })
  const server = await guardedServer()
  server.accept(wants('first'))
  await writeFile(join(home.path, 'token'), 'first\n')
  const url = (
    await home.ok(['run', server.url, '--name', 'far', '--remote-auth-bearer-token-file', 'token'])
  ).trim()
  expect((await post(url, rpc('ping', 1))).status).toBe(200)

  server.accept(wants('second'))
  await writeFile(join(home.path, 'token'), 'second\n')

  expect((await post(url, rpc('ping', 2))).status).toBe(200)
  expect(server.seen.at(-1)?.authorization).toBe('Bearer second')
})

test('KEELSON_REMOTE_AUTH_BEARER_TOKEN counts where no flag gives a token', async () => {
  const home = await testHome()
  const server = await guardedServer()
  const env = { KEELSON_REMOTE_AUTH_BEARER_TOKEN: 'of-the-variable' }

  const one = (await home.ok(['run', server.url, '--name', 'one'], { env })).trim()
  const flags = ['--remote-auth-bearer-token', 'of-the-flag']
  const two = (await home.ok(['run', server.url, '--name', 'two', ...flags], { env })).trim()

  await post(one, rpc('ping', 1))
  await post(two, rpc('ping', 1))
  expect(server.seen.slice(-2).map(({ authorization }) => authorization)).toEqual([
    'Bearer of-the-variable',
    'Bearer of-the-flag',
  ])
})

test('a token that the server refuses shows as unauthenticated, and clients get 503', {
  timeout: 60_000,
}, async () => {
  const home = await testHome()
  const server = await guardedServer()
  server.accept(() => false)
  const url = (
    await home.ok(['run', server.url, '--name', 'far', '--remote-auth-bearer-token', TOKEN])
  ).trim()
  const status = async () => JSON.parse(await home.ok(['status', 'far', '--format', 'json']))

  const refused = await post(url, rpc('ping', 7))

  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10'])
  expect(await refused.json()).toMatchObject({
    id: 7,
    error: { message: expect.stringContaining('bearer token') },
  })
  await until(async () => (await status()).status === 'unauthenticated')
  expect((await status()).status_context).toBe('The remote server does not accept the bearer token.')

  server.accept(() => true)
  expect((await post(url, rpc('ping', 8))).status).toBe(200)
  await until(async () => (await status()).status === 'running')
})

describe('is refused', () => {
  test('a plain token where secrets cannot be kept', async () => {
    const home = await testHome({ secrets: false })
    const shown = await home.keelson(['run', 'http://127.0.0.1:9/mcp', '--remote-auth-bearer-token', TOKEN])
    expect(shown.code).toBe(1)
    expect(shown.stderr).toContain('The bearer token cannot be kept')
    expect(shown.stderr).toContain('--remote-auth-bearer-token-file')
    expect(await home.ok(['list', '--all', '--format', 'json'])).toBe('[]')
    expect(await filesWith(home, TOKEN)).toEqual([])
  })

  test.each([
    [['--remote-auth-bearer-token', 'a', '--remote-auth-bearer-token-file', 'b'], 'do not go together'],
    [['--remote-auth-bearer-token', 'a\r\nX-Evil: 1'], 'no bearer token'],
    [['--remote-auth-bearer-token-file', 'missing'], 'does not exist'],
  ])('%j', async (flags, problem) => {
    const home = await testHome()
    const shown = await home.keelson(['run', 'http://127.0.0.1:9/mcp', ...flags])
    expect(shown.code).not.toBe(0)
    expect(shown.stderr).toContain(problem)
    expect(await home.ok(['list', '--all', '--format', 'json'])).toBe('[]')
  })

  test('a token for an image', async () => {
    const home = await testHome()
    const shown = await home.keelson(['run', 'example/image', '--remote-auth-bearer-token', 'a'])
    expect(shown.code).toBe(2)
    expect(shown.stderr).toContain('--remote-auth-bearer-token does not go with the image')
  })
})
