import { once } from 'node:events'
import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startApi } from '../../support/api-server.ts'
import { keelsonUser } from '../../support/keelson.ts'

const record = '.local/state/keelson/server/server.json'

/** The bytes that come back for the bytes that are sent. */
const raw = (port: string, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(text))
    let answer = ''
    socket.on('data', chunk => {
      answer += chunk
    })
    socket.on('end', () => resolve(answer))
    socket.on('error', reject)
  })

test('the server writes down where it is, and takes that back at its end', async () => {
  const api = await startApi()
  const path = join(api.user.home, record)

  const written = JSON.parse(await readFile(path, 'utf8'))
  expect(written).toEqual({
    ...{ url: api.url, pid: api.process.pid },
    nonce: expect.stringMatching(/^[0-9a-f]{32}$/),
    started_at: expect.stringMatching(/^\d{4}-.*Z$/),
  })
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect((await stat(dirname(path))).mode & 0o777).toBe(0o700)
  const health = await api.ask('GET', '/health')
  expect([health.status, health.headers.get('x-toolhive-nonce')]).toEqual([204, written.nonce])

  expect(await api.stop()).toBe(143)
  await expect(stat(path)).rejects.toThrow('ENOENT')
})

test('a second server of the same user fails and names the first', async () => {
  const api = await startApi()

  const second = await api.user.run(['serve', '--port', '0'])

  expect(second.code).toBe(1)
  expect(second.stderr).toContain(`runs already at ${api.url} (process ${api.process.pid})`)
  expect(second.stderr).toContain('another ToolHive server is already running') // an application looks for it
})

test('what a killed server left is replaced', async () => {
  const user = await keelsonUser()
  const first = await startApi({ user })
  first.process.kill('SIGKILL')
  await new Promise(resolve => first.process.once('exit', resolve))

  const second = await startApi({ user })

  expect((await second.ask('GET', '/api/v1beta/version')).status).toBe(200)
})

test('a link in the place of the record is refused', async () => {
  const user = await keelsonUser()
  await mkdir(dirname(join(user.home, record)), { recursive: true })
  await writeFile(join(user.home, 'mine'), 'precious')
  await symlink(join(user.home, 'mine'), join(user.home, record))

  const { code, stderr } = await user.run(['serve', '--port', '0'])

  expect([code, stderr]).toEqual([1, expect.stringContaining('it is a link')])
  expect(await readFile(join(user.home, 'mine'), 'utf8')).toBe('precious')
})

test.each(['0.0.0.0', '::', '192.0.2.1'])('nobody listens on %s without saying so', async host => {
  const user = await keelsonUser()

  const { code, stderr } = await user.run(['serve', '--host', host, '--port', '0'])

  expect([code, stderr]).toEqual([2, expect.stringContaining('--insecure-allow-remote-without-auth')])
})

test('who says so may listen beyond this machine, and is reached by address, not by the names of others', async () => {
  const api = await startApi({
    args: ['--host', '0.0.0.0', '--port', '0', '--insecure-allow-remote-without-auth'],
  })
  const port = new URL(api.url).port

  expect(await raw(port, 'GET /health HTTP/1.1\r\nHost: 192.0.2.7:1\r\nConnection: close\r\n\r\n')).toContain(
    ' 204 ',
  )
  expect(await raw(port, 'GET /health HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n')).toContain(
    ' 403 ',
  )
})

test('a port in use is an error that names it', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => other.once('listening', resolve))
  const user = await keelsonUser()

  const { port } = other.address() as { port: number }
  const { code, stderr } = await user.run(['serve', '--port', String(port)])

  expect([code, stderr]).toEqual([1, expect.stringContaining(`127.0.0.1:${port} is in use`)])
  other.close()
})

test('a Unix socket is for its user only, and serves the API', async () => {
  const user = await keelsonUser()
  const path = join(user.home, 'new', 'api.sock')
  const api = await startApi({ user, args: ['--socket', path] })

  expect(api.url).toBe(`unix://${path}`)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect((await stat(dirname(path))).mode & 0o777).toBe(0o700)
  const status = await new Promise(resolve => {
    request({ socketPath: path, path: '/api/v1beta/version' }, response => resolve(response.statusCode)).end()
  })
  expect(status).toBe(200)
  await api.stop()
  await expect(stat(path)).rejects.toThrow('ENOENT')
})

test('a file in the place of the socket is left alone', async () => {
  const user = await keelsonUser()
  await writeFile(join(user.home, 'notes'), 'precious')

  const { code, stderr } = await user.run(['serve', '--socket', 'notes'])

  expect([code, stderr]).toEqual([1, expect.stringContaining('it is not a socket')])
  expect(await readFile(join(user.home, 'notes'), 'utf8')).toBe('precious')
})

test('pages of other sites are refused, rebound ones too', async () => {
  const api = await startApi()
  const { port, host } = new URL(api.url)
  const ask = (headers: string) =>
    raw(port, `GET /api/v1beta/version HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`)

  expect(await ask(`Host: ${host}\r\n`)).toContain(' 200 ')
  expect(await ask(`Host: localhost:${port}\r\nOrigin: http://localhost:${port}\r\n`)).toContain(' 200 ')
  expect(await ask(`Host: evil.test:${port}\r\n`)).toContain(' 403 ')
  expect(await ask(`Host: 127.0.0.1.evil.test\r\n`)).toContain(' 403 ')
  expect(await ask(`Host: ${host}\r\nOrigin: https://evil.test\r\n`)).toContain(' 403 ')
  expect(await ask(`Host: ${host}\r\nOrigin: null\r\n`)).toContain(' 403 ')
  expect(await ask(`Host: ${host}\r\nOrigin: http://localhost:1\r\n`)).toContain(' 403 ')
  expect((await fetch(`${api.url}/x`, { headers: { origin: 'https://evil.test' } })).status).toBe(403)
})

test('unknown paths and methods are 404 and 405, with the headers of every response', async () => {
  const api = await startApi()

  const unknown = await api.ask('GET', '/api/v1beta/nothing')
  expect([unknown.status, unknown.text]).toEqual([404, '404 page not found\n'])
  expect((await api.ask('GET', '/api/v1beta/groups/default/')).status).toBe(404)
  expect((await api.ask('GET', '/api/v1beta/groups/')).status).toBe(200)
  const wrong = await api.ask('PATCH', '/api/v1beta/groups/default')
  expect([wrong.status, wrong.headers.get('allow'), wrong.text]).toEqual([405, 'DELETE, GET', ''])
  expect((await api.ask('HEAD', '/health')).status).toBe(405)
  for (const { headers } of [unknown, wrong, await api.ask('GET', '/api/v1beta/groups/%zz')]) {
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
  }
  expect((await api.ask('GET', '/api/v1beta/groups')).headers.get('content-type')).toBe('application/json')
})

test('a body of exactly one MiB is read, a longer one is 413, announced or not', async () => {
  const api = await startApi()
  const post = (body: string) => api.ask('POST', '/api/v1beta/groups', body)
  const padded = (length: number) => `{"name":"a"${' '.repeat(length - 12)}}`
  const { port } = new URL(api.url)

  expect((await post(padded(1_048_576))).status).toBe(201)
  const longer = await post(padded(1_048_577))
  expect([longer.status, longer.text]).toEqual([413, 'Request Entity Too Large\n'])
  const chunk = `${(1_048_577).toString(16)}\r\n${' '.repeat(1_048_577)}\r\n`
  const answer = await raw(
    port,
    `POST /api/v1beta/groups HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`,
  )
  expect(answer).toContain(' 413 ')
})

test('bodies are read whatever their Content-Type says, and null members count as not given', async () => {
  const api = await startApi()
  const { port } = new URL(api.url)
  const send = (type: string, body: string) =>
    raw(
      port,
      `POST /api/v1beta/groups HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${type}Content-Length: ${body.length}\r\n\r\n${body}`,
    )

  expect(await send('', '{"name":"a"}')).toContain(' 201 ')
  expect(await send('Content-Type: garbage\r\n', '{"name":"b","other":1}')).toContain(' 201 ')
  expect(await send('Content-Type: text/plain\r\n', '{"name":"c"} {}')).toContain(' 400 ')
  expect(await send('', '{"name":null}')).toContain(' 400 ')
  expect(await send('', '['.repeat(300_000))).toContain(' 400 ')
  expect(await send('', `${'{"name":'.repeat(100_000)}1${'}'.repeat(100_000)}`)).toContain(' 400 ')
})

test('without --openapi there is no description', async () => {
  const api = await startApi()
  expect(Object.keys(api.document.paths)).toContain('/api/v1beta/workloads/{name}')
  await api.stop()

  const plain = await startApi({ openapi: false })
  expect((await plain.ask('GET', '/api/openapi.json')).status).toBe(404)
})

test('a connection on which nothing was asked does not hold up the end', async () => {
  const api = await startApi()
  const { port } = new URL(api.url)
  const idle = connect(Number(port), '127.0.0.1')
  onTestFinished(() => void idle.destroy())
  await once(idle, 'connect')
  await api.ask('GET', '/health')

  const began = performance.now()
  await api.stop()

  expect(performance.now() - began).toBeLessThan(10_000)
})
