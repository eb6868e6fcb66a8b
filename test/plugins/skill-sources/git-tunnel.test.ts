import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { findProxy } from '../../../plugins/skill-sources/git/find-proxy.ts'
import { openGitTunnel, type TunnelOptions } from '../../../plugins/skill-sources/git/git-tunnel.ts'
import { readExactly } from '../../../plugins/skill-sources/git/read-exactly.ts'
import { registryServer } from '../../support/registry-server.ts'
import { proxyTo } from './connect-proxy.ts'

/** A tunnel to a server on loopback. */
async function tunnelTo(url: string, options: Partial<TunnelOptions> = {}) {
  const port = Number(new URL(url).port)
  const tunnel = await openGitTunnel({
    host: '127.0.0.1',
    port,
    allowPrivate: true,
    maxBytes: 100_000,
    ...options,
  })
  onTestFinished(() => tunnel.close())
  return { ...tunnel, port }
}

/** Asks a tunnel to connect (RFC 1928), and answers its reply; the socket then leads there. */
async function ask(
  proxy: string,
  host: string,
  port: number,
): Promise<{ reply: number | undefined; socket: Socket }> {
  const socket = connect(Number(new URL(proxy).port), '127.0.0.1')
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  const address = Buffer.concat([
    Buffer.from([3, host.length]),
    Buffer.from(host),
    Buffer.from([port >> 8, port & 255]),
  ])
  // One byte at a time, as a slow network may deliver them.
  for (const byte of Buffer.concat([Buffer.from([5, 1, 0, 5, 1, 0]), address]))
    socket.write(Buffer.from([byte]))
  const [, , , reply] = await readExactly(socket, 12)
  return { reply, socket }
}

test('what it is for comes through', async () => {
  const server = await registryServer((_, response) => response.end('hello'))
  const tunnel = await tunnelTo(server.url)
  const { reply, socket } = await ask(tunnel.proxy, '127.0.0.1', tunnel.port)
  expect(reply).toBe(0)
  socket.write('GET / HTTP/1.0\r\n\r\n')
  const chunks: Buffer[] = await socket.toArray()
  expect(Buffer.concat(chunks).toString()).toContain('hello')
  expect(tunnel.problem()).toBeUndefined()
})

test.each([
  ['another host', 'example.com', 0],
  ['another port', '127.0.0.1', 1],
])('%s is not reached', async (_, host, shift) => {
  const server = await registryServer()
  const tunnel = await tunnelTo(server.url)
  const { reply } = await ask(tunnel.proxy, host, tunnel.port + shift)
  expect(reply).toBe(2)
  expect(tunnel.problem()).toMatchObject({ kind: 'redirect' })
  expect(server.asked).toEqual([])
})

test('a name that leads to this machine is refused by what it resolves to', async () => {
  const server = await registryServer()
  const tunnel = await tunnelTo(server.url, { host: 'localhost', allowPrivate: false })
  const { reply } = await ask(tunnel.proxy, 'localhost', tunnel.port)
  expect(reply).toBe(2)
  expect(tunnel.problem()).toMatchObject({
    kind: 'private',
    message: expect.stringContaining('localhost is a private address'),
  })
  expect(server.asked).toEqual([])
})

test('a private address is refused', async () => {
  const tunnel = await tunnelTo('http://127.0.0.1:1', { allowPrivate: false })
  expect((await ask(tunnel.proxy, '127.0.0.1', 1)).reply).toBe(2)
  expect(tunnel.problem()).toMatchObject({ kind: 'private' })
})

test('a host that refuses connections is named in the failure', async () => {
  const server = await registryServer()
  await server.stop()
  const tunnel = await tunnelTo(server.url)
  expect((await ask(tunnel.proxy, '127.0.0.1', tunnel.port)).reply).toBe(4)
  expect(tunnel.problem()).toMatchObject({ kind: 'unreachable' })
})

test('more than is allowed does not come through, over however many connections', async () => {
  const server = await registryServer((_, response) => response.end(Buffer.alloc(60_000)))
  const tunnel = await tunnelTo(server.url)
  const load = async () => {
    const { socket } = await ask(tunnel.proxy, '127.0.0.1', tunnel.port)
    socket.write('GET / HTTP/1.0\r\n\r\n')
    socket.resume()
    await once(socket, 'close')
  }
  await load()
  expect(tunnel.problem()).toBeUndefined()
  await load()
  expect(tunnel.problem()).toMatchObject({ kind: 'too_large' })
})

test('what does not speak SOCKS is hung up on', async () => {
  const tunnel = await tunnelTo('http://127.0.0.1:1')
  const socket = connect(Number(new URL(tunnel.proxy).port), '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write('GET / HTTP/1.0\r\n\r\n')
  socket.resume()
  await once(socket, 'close')
  expect(tunnel.problem()).toBeUndefined()
})

test.each([
  ['directly', false],
  ['through a proxy', true],
])('what is connected %s stays so beyond the time for connecting', async (_, isProxied) => {
  const late = Promise.withResolvers<void>()
  const server = await registryServer((_, response) => void late.promise.then(() => response.end('hello')))
  const via = isProxied ? (await proxyTo(server.url)).via : undefined
  const tunnel = await tunnelTo(server.url, { via, connectTimeoutMs: 1000 })
  const { socket } = await ask(tunnel.proxy, '127.0.0.1', tunnel.port)
  socket.write('GET / HTTP/1.0\r\n\r\n')
  const over = AbortSignal.timeout(1200)
  await once(over, 'abort')
  late.resolve()
  expect(Buffer.concat(await socket.toArray()).toString()).toContain('hello')
})

test('with a proxy the name is looked up there', async () => {
  const server = await registryServer((_, response) => response.end('hello'))
  const { via, asked } = await proxyTo(server.url)
  const options = { host: 'git.example.invalid', port: 443, allowPrivate: false, via }
  const tunnel = await tunnelTo(server.url, options)
  const { reply, socket } = await ask(tunnel.proxy, 'git.example.invalid', 443)
  expect(reply).toBe(0)
  socket.write('GET / HTTP/1.0\r\n\r\n')
  expect(Buffer.concat(await socket.toArray()).toString()).toContain('hello')
  expect(asked).toEqual([
    { target: 'git.example.invalid:443', login: `Basic ${Buffer.from('me:p@ss').toString('base64')}` },
  ])
})

test('a proxy that refuses is named, without the login for it', async () => {
  const { via } = await proxyTo('http://127.0.0.1:1', 407)
  const tunnel = await tunnelTo('http://127.0.0.1:1', { host: 'h.invalid', port: 443, via })
  expect((await ask(tunnel.proxy, 'h.invalid', 443)).reply).toBe(4)
  expect(tunnel.problem()?.message).toBe(`the proxy ${via.host} responds with status 407`)
})

test.each([
  [{}, undefined],
  [{ HTTPS_PROXY: 'http://p:1' }, 'http://p:1/'],
  [{ https_proxy: 'p:1' }, 'http://p:1/'],
  [{ HTTPS_PROXY: 'socks5://p:1' }, undefined],
  [{ HTTPS_PROXY: 'http://p:1', NO_PROXY: '*' }, undefined],
  [{ HTTPS_PROXY: 'http://p:1', NO_PROXY: 'a.com,.example.com' }, undefined],
  [{ HTTPS_PROXY: 'http://p:1', no_proxy: 'git.example.com:443' }, undefined],
  [{ HTTPS_PROXY: 'http://p:1', NO_PROXY: 'ample.com git.example.co' }, 'http://p:1/'],
])('the environment %j names the proxy %s', (env, url) => {
  expect(findProxy(env, 'git.example.com')?.href).toBe(url)
})
