import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createTokenChecker } from '../../../plugins/auth-in/tokens/token-checker.ts'
import { AUDIENCE, json, startIssuer } from './issuer.ts'

const START = Date.UTC(2026, 0, 1)
const HOUR = 3_600_000

/** An issuer whose keys were fetched once by an earlier process, and which is away now. */
async function arrange() {
  const keysFolder = await mkdtemp(join(tmpdir(), 'keelson-keys-'))
  onTestFinished(() => rm(keysFolder, { recursive: true }))
  const clock = { now: START }
  const issuer = await startIssuer(() => clock.now)
  const config = { issuer: issuer.url, audience: AUDIENCE, allowHttp: true, allowPrivateIp: true }
  const start = () => createTokenChecker(config, { now: () => clock.now, timeoutMs: 500, keysFolder })
  issuer.keys.push({ kty: 'oct', k: 'c2VjcmV0', kid: 'password' })
  await start()(await issuer.sign())
  const read = async () => (await readdir(keysFolder)).filter(name => name.endsWith('.json'))
  await expect.poll(read).toHaveLength(1)
  const path = join(keysFolder, (await read())[0] ?? '')
  const away = json({}, 503)
  for (const at of ['/jwks', '/.well-known/openid-configuration']) issuer.instead.set(at, away)
  const token = await issuer.sign({ exp: START / 1000 + 100_000 })
  return { clock, issuer, path, token, start }
}

test('keys outlive the process for an hour while the issuer is away', async () => {
  const { clock, token, start } = await arrange()

  clock.now += HOUR
  expect(await start()(token)).toMatchObject({ subject: 'ada' })
  clock.now += 1
  await expect(start()(token)).rejects.toMatchObject({ code: 'auth_unavailable' })
})

test('the file is for its owner alone and holds public keys only', async () => {
  const { path } = await arrange()

  expect((await stat(path)).mode & 0o777).toBe(0o600)
  const { keys } = JSON.parse(await readFile(path, 'utf8'))
  expect(keys).toEqual([expect.objectContaining({ kty: 'EC', kid: 'key-1' })])
})

test('while the issuer is there, keys of the file are not used', async () => {
  const { issuer, token, start } = await arrange()
  issuer.instead.clear()
  issuer.keys = []
  await issuer.addKey({ kid: 'rotated' })

  await expect(start()(token)).rejects.toMatchObject({ code: 'token_invalid' })
})

test.each<[string, (text: string) => string]>([
  ['is cut short', text => text.slice(0, 90)],
  ['is of another issuer', text => text.replace('"issuer":"http', '"issuer":"https')],
  ['is from the future', text => text.replace(/"fetched_at":\d+/, `"fetched_at":${START + HOUR}`)],
  ['is not JSON', () => '\0'],
])('a file that %s is not used', async (_, change) => {
  const { path, token, start } = await arrange()
  await writeFile(path, change(await readFile(path, 'utf8')))

  await expect(start()(token)).rejects.toMatchObject({ code: 'auth_unavailable' })
})

test('a file that others can write is not used', async () => {
  const { path, token, start } = await arrange()
  await chmod(path, 0o622)

  await expect(start()(token)).rejects.toMatchObject({ code: 'auth_unavailable' })
})
