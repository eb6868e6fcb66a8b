import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { bundled } from '../../support/bundled.ts'
import { post, rpc, until } from '../proxy/test-proxy.ts'
import { filesWith } from './guarded-server.ts'
import { login, runAndLogIn, world } from './login-world.ts'

const tokenProgram = bundled(new URL('./token-program.ts', import.meta.url))

test('run logs in where the server demands it, and requests carry the token', {
  timeout: 120_000,
}, async () => {
  const { home, provider, server, asked, status } = await world()

  const shown = await runAndLogIn(home, login(server, 'far'), provider)

  expect([shown.code, shown.visits]).toEqual([0, 1])
  expect((await post(shown.url, rpc('ping', 1))).status).toBe(200)
  expect((await status('far')).status).toBe('running')
  const { header } = { header: server.asked.at(-1)?.headers.authorization ?? '' }
  expect(header).toMatch(/^Bearer ey/)
  expect(await filesWith(home, header.slice(7))).toEqual([])
  await home.ok(['export', 'far', 'far.json'])
  expect(await readFile(join(home.path, 'far.json'), 'utf8')).not.toContain('refresh')

  // Another workload of the same server needs no login.
  const second = await runAndLogIn(home, login(server, 'near'), provider)
  expect([second.code, second.visits]).toEqual([0, 0])
  expect((await post(second.url, rpc('ping', 1))).status).toBe(200)
  expect(asked('authorization_code')).toBe(1)

  // Nor does a restart.
  await home.ok(['stop', 'far'])
  await home.ok(['start', 'far'])
  expect((await post(shown.url, rpc('ping', 2))).status).toBe(200)
  expect(asked('authorization_code')).toBe(1)
})

test('a login that the provider ends shows as unauthenticated, and clients get 503', {
  timeout: 120_000,
}, async () => {
  const { home, provider, server, status } = await world()
  const shown = await runAndLogIn(home, login(server, 'far'), provider)
  expect((await post(shown.url, rpc('ping', 1))).status).toBe(200)

  provider.answer((request, response) => {
    if (!request.url?.startsWith('/token')) return false
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}')
    return true
  })
  server.answer((_, response) => response.writeHead(401, { 'www-authenticate': 'Bearer' }).end())
  const refused = await post(shown.url, rpc('ping', 2))

  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10'])
  expect(refused.headers.get('www-authenticate')).toBeNull()
  await until(async () => (await status('far')).status === 'unauthenticated')
  expect((await status('far')).status_context).toContain('is over')
})

test('twenty processes at once use no refresh token twice', { timeout: 180_000 }, async () => {
  const { home, provider, server } = await world()
  await runAndLogIn(home, login(server, 'far'), provider)
  const before = provider.asked.length

  const outcomes = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const { stdout } = await execa(process.execPath, ['--', tokenProgram], {
        env: home.env,
        extendEnv: false,
      })
      return stdout
    }),
  )

  expect(outcomes).toEqual(Array.from({ length: 20 }, () => 'token'))
  const spent = provider.asked.slice(before).flatMap(({ form }) => form.get('refresh_token') ?? [])
  expect(spent.length).toBeGreaterThanOrEqual(20) // the supervisor may need one as well
  expect(new Set(spent).size).toBe(spent.length)
})

test('auth list shows the login, and auth login makes another that the workload uses', {
  timeout: 120_000,
}, async () => {
  const { home, provider, server, status } = await world()
  const { url } = await runAndLogIn(home, login(server, 'far'), provider)
  const [{ issuer, client }] = JSON.parse(await home.ok(['auth', 'list', '--format', 'json']))
  expect([issuer, client]).toEqual([provider.issuer, expect.any(String)])
  await home.ok(['secret', 'list', '--system'])

  const again = await runAndLogIn(home, ['auth', 'login', 'far', '--skip-browser'], provider)

  expect([again.code, again.visits]).toEqual([0, 1])
  expect((await post(url, rpc('ping', 1))).status).toBe(200)
  expect((await status('far')).status).toBe('running')
})
