import { once } from 'node:events'
import { get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type Callback, listenForCallback } from '../../../src/login/callback.ts'

const STATE = 'the-state'

async function listening(path?: string): Promise<{ callback: Callback; url: URL }> {
  const refuse = (_: unknown, options: { cause: unknown }) => new Error('no port', options)
  const callback = await listenForCallback({ port: 0, state: STATE, refuse, ...(path ? { path } : {}) })
  onTestFinished(() => callback.close())
  return { callback, url: new URL(callback.redirectUri) }
}

/** The login comes back as it should. */
async function comesBack({ callback, url }: Awaited<ReturnType<typeof listening>>): Promise<string> {
  const page = fetch(`${url}?code=right&state=${STATE}`)
  const arrived = await callback.arrived
  callback.finish()
  expect((await page).status).toBe(200)
  return arrived.href
}

async function silentConnection({ port }: URL): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: Number(port) }).on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  return socket
}

test('hundreds of connections that say nothing do not keep the browser out', async () => {
  const login = await listening()
  const sockets = await Promise.all(Array.from({ length: 300 }, () => silentConnection(login.url)))

  expect(await comesBack(login)).toContain('code=right')

  await expect.poll(() => sockets.filter(socket => socket.closed).length).toBeGreaterThanOrEqual(200)
})

test('a head that is too long is refused, and the login goes on', async () => {
  const login = await listening()

  const response = await fetch(`${login.url}?code=${'x'.repeat(20_000)}&state=${STATE}`)

  expect(response.status).toBe(431)
  expect(await comesBack(login)).toContain('code=right')
})

test('a request that does not end is ended, and the login goes on', { timeout: 60_000 }, async () => {
  const login = await listening()
  const socket = await silentConnection(login.url)
  const closed = once(socket.resume(), 'close')
  socket.write(`GET /callback?code=slow&state=${STATE} HTTP/1.1\r\nhost: localhost\r\nx-`)

  await closed

  expect(await comesBack(login)).toContain('code=right')
})

test.each([
  '//evil.example/callback',
  'http://evil.example/callback',
  '/callback/',
  '/Callback',
  '/%63allback',
])('a response to %s is none to this login', async path => {
  const login = await listening()
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  get({ host: '127.0.0.1', port: login.url.port, path: `${path}?code=wrong&state=${STATE}` }, response =>
    resolve(response.resume().statusCode),
  )

  expect(await promise).toBe(404)
  expect(await comesBack(login)).toContain('code=right')
})

test('only the path of this login counts, so that no response to another one is taken', async () => {
  const login = await listening('/callback/one')
  const other = new URL(login.url)
  other.pathname = '/callback'

  expect((await fetch(`${other}?code=wrong&state=${STATE}`)).status).toBe(404)
  expect(await comesBack(login)).toContain('/callback/one?code=right')
})
