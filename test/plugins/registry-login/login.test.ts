import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { identityProvider } from '../../support/identity-provider.ts'
import { type KeelsonUser, userWithSecrets } from '../../support/keelson.ts'
import { guardedRegistry } from './guarded-registry.ts'
import { recordingBrowser, startLogin } from './person.ts'

// Each starts the program several times, and each time a key is made from a password, on purpose slowly.
vi.setConfig({ testTimeout: 180_000 })

/** A user, a registry that wants a login, and the provider it trusts; the flags that say so. */
async function world(options: Parameters<typeof identityProvider>[0] = {}) {
  const provider = await identityProvider(options)
  const registry = await guardedRegistry(provider)
  const user = await userWithSecrets()
  const flags = [
    '-p',
    '--registry',
    registry.url,
    '--issuer',
    provider.issuer,
    '--client-id',
    provider.clientId,
  ]
  const login = async (more: readonly string[] = flags) => {
    const waiting = await startLogin(user, more)
    const page = await provider.visit(waiting.url)
    return { page, shown: await waiting.ended, url: waiting.url }
  }
  const list = () => user.run(['registry', 'list', '--refresh', '--format', 'json'])
  const refreshes = () =>
    provider.asked.filter(({ form }) => form.get('grant_type') === 'refresh_token').length
  return { provider, registry, user, flags, login, list, refreshes }
}

/** Everything that stands in files of the user's home. */
async function filesOf({ home }: KeelsonUser): Promise<{ path: string; text: string; mode: number }[]> {
  const entries = await readdir(home, { recursive: true, withFileTypes: true })
  return Promise.all(
    entries
      .filter(entry => entry.isFile())
      .map(async entry => {
        const path = join(entry.parentPath, entry.name)
        return { path, text: await readFile(path, 'latin1'), mode: (await stat(path)).mode & 0o777 }
      }),
  )
}

const names = (stdout: string) => (JSON.parse(stdout) as { name: string }[]).map(one => one.name)

test('a login in the browser opens the registry', async () => {
  const { login, list, registry } = await world()

  const { page, shown } = await login()

  expect(page).toMatchObject({ status: 200, text: expect.stringContaining('You are logged in') })
  expect(shown).toMatchObject({ code: 0, stdout: '' })
  expect(shown.stderr).toContain(`Logged in to ${registry.url}.`)
  const listed = await list()
  expect(listed).toMatchObject({ code: 0, stderr: '' })
  expect(names(listed.stdout)).toEqual(['com.example/guarded'])
})

test('the provider is asked with PKCE, a state and for a refresh token', async () => {
  const { login } = await world()

  const { url } = await login()

  const words = Object.fromEntries(new URL(url).searchParams)
  expect(words).toMatchObject({
    response_type: 'code',
    code_challenge_method: 'S256',
    scope: 'openid offline_access',
    redirect_uri: expect.stringMatching(/^http:\/\/localhost:\d+\/callback$/),
  })
  expect(words.code_challenge).toHaveLength(43)
  expect(words.state?.length).toBeGreaterThanOrEqual(22)
})

test('no token is readable in a file or in output', async () => {
  const { login, list, user, provider, registry } = await world({ accessTokenSeconds: 20 })
  const { shown } = await login()
  const listed = await user.run(['registry', 'list', '--debug'])

  await list()

  const tokens = registry.asked.flatMap(({ headers }) => headers.authorization?.split(' ')[1] ?? [])
  const codes = provider.asked.flatMap(({ form }) => [
    form.get('code'),
    form.get('code_verifier'),
    form.get('refresh_token'),
  ])
  const secrets = [...tokens, ...codes].filter(text => text !== null)
  expect(codes.filter(code => code !== null).length).toBeGreaterThanOrEqual(4)
  expect(tokens.length).toBeGreaterThanOrEqual(3)
  const files = await filesOf(user)
  const written = [...files.map(({ text }) => text), shown.stderr, shown.stdout, listed.stderr, listed.stdout]
  for (const secret of secrets) expect(written.filter(text => text.includes(secret))).toEqual([])
  expect(files.filter(({ mode }) => (mode & 0o077) !== 0).map(({ path }) => path)).toEqual([])
})

test('a registry that says where to log in needs no flags: a client is registered', async () => {
  const { login, list, registry, user, provider } = await world()

  const { shown } = await login(['-p', '--registry', registry.url])

  expect(shown).toMatchObject({ code: 0 })
  expect(names((await list()).stdout)).toEqual(['com.example/guarded'])
  const settings = await filesOf(user)
  expect(settings.find(({ path }) => path.endsWith('config.json'))?.text).toContain(provider.issuer)
  expect(provider.asked.filter(({ path }) => path === '/reg')).toHaveLength(1)
})

test('an access token that is about to end is renewed ahead', async () => {
  const { login, list, provider, refreshes } = await world({ accessTokenSeconds: 20 })
  await login()
  provider.expireAfter(3600)

  expect(names((await list()).stdout)).toEqual(['com.example/guarded'])
  expect(refreshes()).toBe(1)

  expect(await list()).toMatchObject({ code: 0 })
  expect(refreshes()).toBe(1)
})

test('of many processes one renews, and all get in', async () => {
  const { login, list, provider, refreshes } = await world({ accessTokenSeconds: 20 })
  await login()
  provider.expireAfter(3600)

  const shown = await Promise.all([list(), list(), list(), list()])

  expect(shown.map(one => one.code)).toEqual([0, 0, 0, 0])
  expect(refreshes()).toBe(1)
})

test('a token that the registry does not take any more is renewed once', async () => {
  const { login, list, registry, refreshes } = await world()
  await login()
  const used = registry.asked.map(({ headers }) => headers.authorization?.split(' ')[1] ?? '')
  for (const token of used.filter(Boolean)) registry.banned.add(token)

  expect(await list()).toMatchObject({ code: 0 })
  expect(refreshes()).toBe(1)
})

test('a login whose refresh token was taken back is over, and says what to type', async () => {
  const { login, list, provider } = await world({ accessTokenSeconds: 20, rotate: false })
  await login()
  expect(await list()).toMatchObject({ code: 0 })
  const used = provider.asked.map(({ form }) => form.get('refresh_token')).find(token => token !== null)
  await provider.revoke(used ?? '')

  const first = await list()
  const second = await list()

  expect(first).toMatchObject({ code: 1, stdout: '' })
  expect(first.stderr).toContain('is over')
  expect(first.stderr).toContain('(invalid_grant)')
  expect(first.stderr).toContain('keelson registry login')
  expect(second.stderr).toContain('requires a login, and there is none')
})

test('while the provider cannot be reached, no new login is required', async () => {
  const { login, list, provider, registry, user } = await world()
  await login()
  expect(await list()).toMatchObject({ code: 0 })
  const used = registry.asked.map(({ headers }) => headers.authorization?.split(' ')[1] ?? '')
  for (const token of used.filter(Boolean)) registry.banned.add(token)
  provider.answer((request, response) => {
    if (request.url === '/token') response.writeHead(503).end()
    return request.url === '/token'
  })

  const stale = await list()

  expect(names(stale.stdout)).toEqual(['com.example/guarded'])
  expect(stale.stderr).toContain('it responds with 503')
  provider.answer(undefined)
  expect(await list()).toMatchObject({ code: 0, stderr: '' })
  expect((await user.run(['secret', 'list', '--system'])).stdout).toContain('REGISTRY_OAUTH_')
})

test('logging out forgets tokens here and at the provider, and what the registry said', async () => {
  const { login, list, user, provider, registry } = await world()
  await login()
  await list()

  const shown = await user.run(['registry', 'logout'])

  expect(shown).toMatchObject({ code: 0, stdout: '' })
  expect(shown.stderr).toBe(`Logged out of ${registry.url}.\n`)
  expect(provider.asked.map(({ path }) => path)).toContain('/token/revocation')
  expect((await user.run(['secret', 'list', '--system'])).stdout).not.toContain('REGISTRY_OAUTH_')
  expect((await filesOf(user)).filter(({ text }) => text.includes('com.example/guarded'))).toEqual([])
  const listed = await user.run(['registry', 'list'])
  expect(listed).toMatchObject({ code: 1, stdout: '' })
  expect(listed.stderr).toContain('requires a login, and there is none')
})

test('logging out works without the provider, with a warning', async () => {
  const { login, user, provider } = await world()
  await login()
  await provider.stop()

  const shown = await user.run(['registry', 'logout'])

  expect(shown).toMatchObject({ code: 0, stdout: '' })
  expect(shown.stderr).toContain('may still be good elsewhere')
  expect((await user.run(['secret', 'list', '--system'])).stdout).not.toContain('REGISTRY_OAUTH_')
})

test('an interrupted login leaves everything as it was', async () => {
  const { user, flags } = await world()
  const waiting = await startLogin(user, flags)

  waiting.interrupt()

  expect(await waiting.ended).toMatchObject({ code: 130, stdout: '' })
  expect((await user.run(['config', 'get-registry'])).stdout).toBe('Registry: built-in catalogue\n')
  expect((await user.run(['secret', 'list', '--system'])).stdout).not.toContain('REGISTRY_OAUTH_')
})

test('a registry that does not take the token of that provider is not set', async () => {
  const { registry, user, provider, flags } = await world()
  registry.answer((_, response) => response.writeHead(403).end())

  const waiting = await startLogin(user, flags)
  await provider.visit(waiting.url)

  const shown = await waiting.ended
  expect(shown.code).toBe(1)
  expect(shown.stderr).toContain('does not allow this login')
  expect((await user.run(['config', 'get-registry'])).stdout).toBe('Registry: built-in catalogue\n')
  expect((await user.run(['secret', 'list', '--system'])).stdout).not.toContain('REGISTRY_OAUTH_')
})

test('after logging out the same login needs no flags', async () => {
  const { login, list, user } = await world()
  await login()
  await user.run(['registry', 'logout'])

  expect((await login([])).shown).toMatchObject({ code: 0 })
  expect(await list()).toMatchObject({ code: 0 })
})

test('another registry takes the login to the one before along', async () => {
  const { login, user } = await world()
  await login()

  expect(await user.run(['config', 'unset-registry'])).toMatchObject({ code: 0, stderr: '' })

  expect((await user.run(['secret', 'list', '--system'])).stdout).not.toContain('REGISTRY_OAUTH_')
  expect((await user.run(['registry', 'logout'])).stderr).toContain('has no login')
})

test('a browser is opened with the address, and the address is shown too', async () => {
  const { user, flags, provider } = await world()
  const opened = await recordingBrowser(user)

  const waiting = await startLogin(user, [...flags, '--skip-browser=false'])

  expect(await opened()).toBe(waiting.url)
  await provider.visit(waiting.url)
  expect(await waiting.ended).toMatchObject({ code: 0 })
})
