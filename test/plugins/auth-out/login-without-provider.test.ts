import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { supervisorCommand } from '../../../plugins/supervisor/launch-supervisor.ts'
import { createSupervisorClient } from '../../../plugins/supervisor/supervisor-client.ts'
import { findPaths } from '../../../src/paths.ts'
import { post, rpc } from '../proxy/test-proxy.ts'
import { filesWith } from './guarded-server.ts'
import { login, runAndLogIn, world } from './login-world.ts'

const WAIT = { timeout: 60_000, interval: 200 }
const CALL = rpc('tools/call', 1, { name: 'echo', arguments: { text: 'hello' } })

/** A home where no provider keeps secrets. */
async function withoutProvider(options: Parameters<typeof world>[0] = {}) {
  const found = await world({ secrets: false, ...options })
  const call = async (url: string) => (await post(url, CALL)).status
  return { ...found, call }
}

test('a login without a secrets provider lasts until the supervisor ends, and then says what to type', {
  timeout: 240_000,
}, async () => {
  const { home, provider, server, status } = await withoutProvider()

  const shown = await runAndLogIn(home, login(server, 'far'), provider)

  expect([shown.code, shown.visits]).toEqual([0, 1])
  expect(
    shown.err.match(/lasts until keelson's background process ends.*keelson secret setup/g),
  ).toHaveLength(1)
  const called = await post(shown.url, CALL)
  expect(await called.json()).toMatchObject({ result: { content: [{ text: 'hello' }] } })

  process.kill(await home.supervisor(), 'SIGKILL')

  await vi.waitUntil(async () => (await status('far')).status === 'unauthenticated', WAIT)
  const [listed] = JSON.parse(await home.ok(['list', '--all', '--format', 'json']))
  expect([listed.name, listed.status]).toEqual(['far', 'unauthenticated'])
  expect(listed.status_context).toContain('lasted until the process of keelson that kept it ended')
  expect(listed.status_context).toContain('keelson auth login far')
  const refused = await post(shown.url, CALL)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10'])
  expect(JSON.parse(await home.ok(['auth', 'list', '--format', 'json']))).toEqual([])
  const { started_at } = await status('far')

  const again = await runAndLogIn(home, ['auth', 'login', 'far', '--skip-browser'], provider)

  expect([again.code, again.visits]).toEqual([0, 1])
  // Without a request, and without a restart.
  await vi.waitUntil(async () => (await status('far')).status === 'running', WAIT)
  expect((await status('far')).started_at).toBe(started_at)
  expect(await (await post(shown.url, CALL)).json()).toMatchObject({
    result: { content: [{ text: 'hello' }] },
  })
})

test('a login in memory is one for all workloads, and on no disk', { timeout: 240_000 }, async () => {
  const { home, provider, server, asked, call } = await withoutProvider({ accessTokenSeconds: 5 })
  const one = await runAndLogIn(home, login(server, 'one'), provider)
  const two = await runAndLogIn(home, login(server, 'two'), provider)

  expect([await call(one.url), await call(two.url)]).toEqual([200, 200])

  await vi.waitUntil(async () => (await call(one.url)) === 200 && asked('refresh_token') > 0, WAIT)
  expect([one.visits, two.visits, asked('authorization_code')]).toEqual([1, 0, 1])
  const supervisor = await home.supervisor()
  const secrets = [
    ...server.asked.flatMap(({ headers }) => headers.authorization?.slice(7) ?? []),
    ...provider.asked.flatMap(({ form }) => form.get('refresh_token') ?? []),
  ]
  expect(secrets.length).toBeGreaterThan(1)
  await home.ok(['export', 'one', 'one.json'])
  const command = await readFile(`/proc/${supervisor}/cmdline`, 'utf8')
  const environment = await readFile(`/proc/${supervisor}/environ`, 'utf8')
  for (const secret of new Set(secrets)) {
    expect(await filesWith(home, secret)).toEqual([])
    expect(command + environment + one.err + two.err).not.toContain(secret)
  }
  expect(await readFile(join(home.path, 'one.json'), 'utf8')).not.toContain('token')
})

test('auth list, status and logout know a login in memory', { timeout: 240_000 }, async () => {
  const { home, provider, server, status, call } = await withoutProvider()
  const { url } = await runAndLogIn(home, login(server, 'far'), provider)
  expect(await call(url)).toBe(200)

  const [listed] = JSON.parse(await home.ok(['auth', 'list', '--format', 'json']))
  const [shown] = JSON.parse(await home.ok(['auth', 'status', 'far', '--format', 'json']))
  expect([listed.kept_in, shown.kept_in, shown.state]).toEqual(['memory', 'memory', 'ready'])
  expect(await home.ok(['auth', 'status', 'far'])).toContain("the memory of keelson's background process")

  const { stderr } = await home.keelson(['auth', 'logout', 'far'])

  expect(stderr).toContain(`Logged out of ${provider.issuer}.`)
  expect(stderr).not.toContain('Warning')
  const revoked = provider.asked.filter(({ path }) => path.includes('revocation'))
  expect(revoked.map(({ form }) => form.get('token_type_hint'))).toEqual(['refresh_token', 'access_token'])
  await vi.waitUntil(async () => (await status('far')).status === 'unauthenticated', WAIT)
  expect(await call(url)).toBe(503)
  expect(JSON.parse(await home.ok(['auth', 'list', '--format', 'json']))).toEqual([])
})

test('a supervisor that is replaced by another build gives its logins to it', {
  timeout: 240_000,
}, async () => {
  const { home, provider, server, asked, status, call } = await withoutProvider()
  const { url } = await runAndLogIn(home, login(server, 'far'), provider)
  const before = await home.supervisor()
  const [program, ...args] = supervisorCommand()
  const client = createSupervisorClient({
    paths: findPaths(home.env),
    build: 'newer',
    launch: () => ({ command: [program, ...args, '--build', 'newer'], env: home.env }),
    host: () => Promise.reject(new Error('not here')),
  })

  await client.ensure()

  await vi.waitUntil(async () => (await call(url)) === 200, WAIT)
  expect(await home.supervisor()).not.toBe(before)
  expect((await status('far')).status).toBe('running')
  expect(asked('authorization_code')).toBe(1)
})

test('a login without a refresh token is kept in memory, and expires with its token', {
  timeout: 240_000,
}, async () => {
  const { home, provider, server, status, call } = await withoutProvider({
    secrets: true,
    refreshTokens: false,
  })
  provider.expireAfter(15)
  const shown = await runAndLogIn(home, login(server, 'far'), provider)
  expect([shown.code, shown.visits]).toEqual([0, 1])
  expect(shown.err).toContain('because the provider gave no refresh token')

  await vi.waitUntil(async () => (await status('far')).status === 'unauthenticated', WAIT)
  const { status_context } = await status('far')
  expect(status_context).toContain('has expired; log in again')
  expect(status_context).toContain('keelson auth login far')
  expect(await call(shown.url)).toBe(503)
  provider.expireAfter(3600)
  await runAndLogIn(home, ['auth', 'login', 'far', '--skip-browser'], provider)
  await vi.waitUntil(async () => (await call(shown.url)) === 200, WAIT)
})
