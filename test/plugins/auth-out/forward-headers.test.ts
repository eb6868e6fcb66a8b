import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { post, rpc } from '../proxy/test-proxy.ts'
import { filesWith, guardedServer, testHome } from './guarded-server.ts'

const SECRET = 'the-value-of-the-secret'

test('headers of flags reach the server with their values as written', async () => {
  const home = await testHome({ secrets: false })
  const server = await guardedServer()
  const url = (
    await home.ok([
      ...['run', server.url, '--remote-forward-headers', 'X-Team=a=b, c'],
      ...['--remote-forward-headers', ' X-Tenant =42'],
    ])
  ).trim()

  await post(url, rpc('ping', 1), { 'x-team': 'of the client' })

  expect(server.seen.at(-1)).toMatchObject({ 'x-team': 'a=b, c', 'x-tenant': '42' })
})

test('a header from a secret has the value that the secret has at each start', {
  timeout: 60_000,
}, async () => {
  const home = await testHome()
  const server = await guardedServer()
  const set = (value: string) => home.ok(['secret', 'set', 'KEY'], { input: value })
  await set(SECRET)
  const flags = ['--name', 'far', '--remote-forward-headers-secret', 'X-Key=KEY']
  const url = (await home.ok(['run', server.url, ...flags])).trim()
  const keyOfCall = async () => {
    await post(url, rpc('ping', 1))
    return server.seen.at(-1)?.['x-key']
  }
  expect(await keyOfCall()).toBe(SECRET)

  await set('another value')
  expect(await keyOfCall()).toBe(SECRET)
  await home.ok(['stop', 'far'])
  await home.ok(['start', 'far'])
  expect(await keyOfCall()).toBe('another value')
  expect(await filesWith(home, SECRET)).toEqual([])
})

test('a plain header that carries a credential is kept like a secret', async () => {
  const home = await testHome()
  const server = await guardedServer()
  const flags = ['--remote-forward-headers', `X-Api-Key=${SECRET}`, '--remote-forward-headers', 'X-Team=a']
  const url = (await home.ok(['run', server.url, '--name', 'far', ...flags])).trim()

  await post(url, rpc('ping', 1))
  await home.ok(['export', 'far', 'far.json'])

  expect(server.seen.at(-1)).toMatchObject({ 'x-api-key': SECRET, 'x-team': 'a' })
  const { header_forward } = JSON.parse(await readFile(join(home.path, 'far.json'), 'utf8'))
  expect(header_forward).toEqual({
    add_plaintext_headers: { 'X-Team': 'a' },
    add_headers_from_secret: { 'X-Api-Key': expect.stringMatching(/^FORWARDED_HEADER_far_[0-9a-f]{16}$/) },
  })
  expect(await filesWith(home, SECRET)).toEqual([])
})

describe('is refused', () => {
  test.each([
    ...['Host', 'Connection', 'TE', 'Content-Length', 'Transfer-Encoding', 'Proxy-Authorization'],
    ...[
      'X-Forwarded-For',
      'Forwarded',
      'Mcp-Session-Id',
      'Mcp-Method',
      'Content-Type',
      'Accept',
      'Not A Name',
    ],
  ])('the header %s', async name => {
    const { assertHeaderName } = await import('../../../plugins/auth-out/headers/header-rules.ts')
    expect(() => assertHeaderName(name)).toThrow('cannot be added to requests')
  })

  test.each([
    [['--remote-forward-headers', 'Host=evil'], 'The header "Host" cannot be added'],
    [['--remote-forward-headers', `X-A=${SECRET}\r\nX-B: 1`], 'control characters'],
    [['--remote-forward-headers', SECRET], 'takes NAME=VALUE'],
    [['--remote-forward-headers-secret', 'X-A='], 'names no secret'],
    [['--remote-forward-headers-secret', 'X-A=MISSING'], 'There is no secret "MISSING"'],
    [['--remote-forward-headers', 'X-A=1', '--remote-forward-headers-secret', 'x-a=B'], 'has two values'],
    [
      ['--remote-forward-headers', 'Authorization=a', '--remote-auth-bearer-token', 'b'],
      'are the same header',
    ],
  ])('%j, without showing the value', { timeout: 60_000 }, async (flags, problem) => {
    const home = await testHome()
    const shown = await home.keelson(['run', 'http://127.0.0.1:9/mcp', ...flags])
    expect(shown.code).not.toBe(0)
    expect(shown.stderr).toContain(problem)
    expect(shown.stderr).not.toContain(SECRET)
  })
})
