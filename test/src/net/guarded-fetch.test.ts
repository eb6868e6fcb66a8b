import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { guardedFetch } from '../../../src/net/guarded-fetch.ts'
import { ownAuthority } from '../../support/own-authority.ts'
import { registryServer } from '../../support/registry-server.ts'

const allowPrivate = true
const problem = (kind: string, text = '') => ({
  name: 'FetchProblem',
  kind,
  message: expect.stringContaining(text),
})

test('a literal private address is refused before anything is sent', async () => {
  const server = await registryServer()
  const https = server.url.replace('http:', 'https:')

  await expect(guardedFetch(https)).rejects.toMatchObject(
    problem('private', '127.0.0.1 is a private address'),
  )

  expect(server.asked).toEqual([])
})

test('a name is judged by the address it resolves to when the connection is made', async () => {
  await expect(guardedFetch('https://localhost:1/')).rejects.toMatchObject(
    problem('private', 'localhost is a private'),
  )
})

test.each(['http://example.com/', 'ftp://example.com/', 'file:///etc/passwd', 'data:,x'])(
  '%s is refused',
  async url => {
    await expect(guardedFetch(url)).rejects.toMatchObject(problem('scheme'))
  },
)

test('a user name in the address is refused and not repeated', async () => {
  const failure = await guardedFetch('https://me:hunter2@example.com/').catch(error => error)

  expect(failure).toMatchObject(problem('scheme'))
  expect(String(failure)).not.toContain('hunter2')
})

test('a redirect is followed; credentials stay with the first origin', async () => {
  const target = await registryServer((_, response) => response.end('there'))
  const first = await registryServer((_, response) =>
    response.writeHead(302, { location: `${target.url}/moved` }).end(),
  )

  const answer = await guardedFetch(first.url, {
    allowPrivate,
    headers: { authorization: 'Bearer s', cookie: 'a', 'x-a': 'b' },
  })

  expect(answer.body.toString()).toBe('there')
  expect(answer.url).toBe(`${target.url}/moved`)
  expect(first.asked[0]?.headers.authorization).toBe('Bearer s')
  expect(target.asked[0]?.headers).not.toHaveProperty('authorization')
  expect(target.asked[0]?.headers).not.toHaveProperty('cookie')
  expect(target.asked[0]?.headers['x-a']).toBe('b')
})

test('a redirect within the origin keeps the credentials', async () => {
  const server = await registryServer((_, response, url) =>
    url.pathname === '/b' ? response.end('b') : response.writeHead(307, { location: '/b' }).end(),
  )

  await guardedFetch(`${server.url}/a`, { allowPrivate, headers: { Authorization: 'Bearer s' } })

  expect(server.asked[1]?.headers.authorization).toBe('Bearer s')
})

test('redirects without end are given up', async () => {
  const server = await registryServer((_, response) => response.writeHead(302, { location: '/again' }).end())

  await expect(guardedFetch(server.url, { allowPrivate })).rejects.toMatchObject(
    problem('redirect', 'more than 5'),
  )
  expect(server.asked).toHaveLength(6)
})

test('a redirect to another scheme is refused', async () => {
  const server = await registryServer((_, response) =>
    response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  )

  await expect(guardedFetch(server.url, { allowPrivate })).rejects.toMatchObject(problem('scheme'))
})

test('a server that accepts and says nothing times out', async () => {
  const server = await registryServer(() => undefined)

  await expect(guardedFetch(server.url, { allowPrivate, timeoutMs: 200 })).rejects.toMatchObject(
    problem('timeout'),
  )
})

test('a body that stalls times out', async () => {
  const server = await registryServer((_, response) => response.write('{'))

  await expect(guardedFetch(server.url, { allowPrivate, timeoutMs: 200 })).rejects.toMatchObject(
    problem('timeout'),
  )
})

test('a body without end is cut off at the cap', async () => {
  const server = await registryServer((_, response) => {
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(10_000)));
      response.once('drain', more)
    }
    more()
  })

  await expect(guardedFetch(server.url, { allowPrivate, maxBytes: 100_000 })).rejects.toMatchObject(
    problem('too_large'),
  )
})

test('a length above the cap is refused without reading', async () => {
  const server = await registryServer((_, response) => {
    response.writeHead(200, { 'content-length': '99999999' })
    response.write('x')
  })

  await expect(guardedFetch(server.url, { allowPrivate, maxBytes: 1000 })).rejects.toMatchObject(
    problem('too_large'),
  )
})

/** A server that writes bytes, HTTP or not, and hangs up. */
async function rawServer(bytes: string): Promise<string> {
  const server = createServer(socket => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end(bytes))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`
}

test('a response shorter than announced is an error', async () => {
  const url = await rawServer('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"half":')

  await expect(guardedFetch(url, { allowPrivate })).rejects.toMatchObject(problem('broken'))
})

test('a response that is not HTTP is an error', async () => {
  await expect(guardedFetch(await rawServer('SSH-2.0-OpenSSH\r\n'), { allowPrivate })).rejects.toMatchObject(
    problem('broken'),
  )
})

test('a compressed response that was not asked for is refused', async () => {
  const server = await registryServer((_, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end('zz'),
  )

  await expect(guardedFetch(server.url, { allowPrivate })).rejects.toMatchObject(problem('broken', 'gzip'))
})

test('the body of an error is cut', async () => {
  const server = await registryServer((_, response) => response.writeHead(500).end('e'.repeat(50_000)))

  const answer = await guardedFetch(server.url, { allowPrivate })

  expect(answer.status).toBe(500)
  expect(answer.body).toHaveLength(4096)
})

test('a refused connection says so', async () => {
  const server = await registryServer()
  await server.stop()

  await expect(guardedFetch(server.url, { allowPrivate })).rejects.toMatchObject(problem('unreachable'))
})

test('an abort of the caller is the caller’s own error', async () => {
  const server = await registryServer(() => undefined)
  const controller = new AbortController()
  const pending = guardedFetch(server.url, { allowPrivate, signal: controller.signal })
  controller.abort(new Error('enough'))

  await expect(pending).rejects.toThrow('enough')
})

test('a CA bundle is trusted besides the certificates of the system, for that request only', async () => {
  const { ca, listen } = await ownAuthority()
  const url = await listen((_, response) => response.end('safe'))

  const answer = await guardedFetch(url, { allowPrivate, ca })

  expect(answer.body.toString()).toBe('safe')
  expect(answer.isPrivate).toBe(true)
  await expect(guardedFetch(url, { allowPrivate })).rejects.toMatchObject(problem('tls'))
})

test('a response that never ends is left when only its headers are wanted', async () => {
  const server = await registryServer((_, response) =>
    response.writeHead(200, { 'x-a': ['1', '2'] }).write('on'),
  )

  const answer = await guardedFetch(server.url, { allowPrivate, headersOnly: true })

  expect(answer.joined('x-a')).toBe('1, 2')
  expect(answer.body).toHaveLength(0)
})

test('a redirect to another origin fails where only one is allowed', async () => {
  const other = await registryServer()
  const server = await registryServer((_, response, url) =>
    response.writeHead(302, { location: url.pathname === '/a' ? '/b' : other.url }).end(),
  )

  await expect(guardedFetch(`${server.url}/a`, { allowPrivate, sameOrigin: true })).rejects.toMatchObject(
    problem('redirect'),
  )
  expect(server.asked).toHaveLength(2)
  expect(other.asked).toEqual([])
})
