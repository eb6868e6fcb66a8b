import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { connect, createServer as createTcpServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, onTestFinished, test, vi } from 'vitest'
import { compilePolicy } from '../../../plugins/egress/policy.ts'
import { isFailure } from '../../../src/errors.ts'
import {
  egressWorld,
  listenOn,
  openTunnel,
  portOf,
  sendGet,
  sendRaw,
  statusOf,
  webServer,
} from './egress-world.ts'

/** A profile that allows exactly these hosts, and loopback as an address, at these ports. */
/** How long what is waited for may take, in milliseconds: a loaded machine is slow. */
const LONG = 30_000

const allowing = (allow_port: number[], ...hosts: string[]) => ({
  network: { outbound: { allow_host: ['127.0.0.1', ...hosts], allow_port } },
})

const echoServer = async (): Promise<{ port: number; sockets: Socket[] }> => {
  const sockets: Socket[] = []
  const server = createTcpServer({ allowHalfOpen: true }, socket => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.pipe(socket)
  })
  return { port: await listenOn(server), sockets }
}

test('a plain request reaches an allowed server, and its response the client', async () => {
  const web = await webServer(() => ({ status: 201, headers: { 'X-Mine': 'yes' }, body: 'made' }))
  const { port } = await egressWorld(allowing([web.port]))

  const answer = await sendGet(port, `http://127.0.0.1:${web.port}/a?b=c`)

  expect(answer).toMatch(/^HTTP\/1\.1 201 /)
  expect(answer).toMatch(/X-Mine: yes\r\n/)
  expect(answer).toMatch(/\r\nmade\r\n/)
  expect(web.seen).toMatchObject([{ method: 'GET', url: '/a?b=c' }])
})

test('a name goes to the address that was checked, and is looked up once', async () => {
  const web = await webServer()
  const { port, asked, dialled } = await egressWorld(allowing([web.port], 'app.test'), {
    names: { 'app.test': ['127.0.0.1'] },
  })

  expect(statusOf(await sendGet(port, `http://APP.test.:${web.port}/`))).toBe(200)
  expect(asked).toEqual(['app.test'])
  expect(dialled).toEqual([{ address: '127.0.0.1', port: web.port }])
})

test('a name that resolves to a denied address the second time is denied then', async () => {
  const web = await webServer()
  const answers = [['127.0.0.1'], ['10.0.0.1']]
  const { port, dialled } = await egressWorld(allowing([web.port], 'rebind.test'), {
    resolve: async () => answers.shift() ?? [],
  })

  const first = await sendGet(port, `http://rebind.test:${web.port}/`)
  const second = await sendGet(port, `http://rebind.test:${web.port}/`)

  expect([statusOf(first), statusOf(second)]).toEqual([200, 403])
  expect(dialled).toEqual([{ address: '127.0.0.1', port: web.port }])
})

test('headers of one connection, and those for proxies, are not forwarded', async () => {
  const web = await webServer(() => ({ headers: { 'Proxy-Authenticate': 'Basic', 'X-Keep': '1' } }))
  const { port } = await egressWorld(allowing([web.port]))

  const answer = await sendGet(port, `http://127.0.0.1:${web.port}/`, [
    'Proxy-Authorization: Basic c2VjcmV0',
    'Proxy-Connection: keep-alive',
    'Keep-Alive: timeout=5',
    'X-Hop: 1',
    'Connection: x-hop',
    'TE: trailers',
    'X-End: 2',
  ])

  const names = web.seen[0]?.rawHeaders.filter((_, i) => i % 2 === 0)
  expect(names).toEqual(['Host', 'X-End', 'Via', 'Connection'])
  expect(answer).toMatch(/X-Keep: 1/)
  expect(answer).not.toMatch(/Proxy-Authenticate/)
})

test('a body passes, with a length and in chunks', async () => {
  const web = await webServer()
  const { port } = await egressWorld(allowing([web.port]))
  const post = (framing: string) =>
    sendRaw(
      port,
      `POST http://127.0.0.1:${web.port}/ HTTP/1.1\r\nHost: 127.0.0.1:${web.port}\r\nConnection: close\r\n${framing}`,
    )

  await post('Content-Length: 5\r\n\r\nabcde')
  await post('Transfer-Encoding: chunked\r\n\r\n3\r\nxyz\r\n0\r\n\r\n')
  await post('\r\n')
  await post('Expect: 100-continue\r\nContent-Length: 2\r\n\r\nok')

  expect(web.seen.map(request => request.body)).toEqual(['abcde', 'xyz', '', 'ok'])
})

test('a redirect is handed to the client, not followed', async () => {
  const web = await webServer(() => ({ status: 302, headers: { Location: 'http://169.254.169.254/' } }))
  const { port, dialled } = await egressWorld(allowing([web.port]))

  expect(statusOf(await sendGet(port, `http://127.0.0.1:${web.port}/`))).toBe(302)
  expect(dialled).toHaveLength(1)
})

test('connections to a server are used again', async () => {
  const web = await webServer()
  let connections = 0
  web.server.on('connection', () => connections++)
  const { port } = await egressWorld(allowing([web.port]))

  for (let i = 0; i < 5; i++) expect(statusOf(await sendGet(port, `http://127.0.0.1:${web.port}/`))).toBe(200)

  expect(connections).toBe(1)
})

test('a kept connection that the server has closed costs no request', async () => {
  const web = await webServer()
  const { port } = await egressWorld(allowing([web.port]))
  const sockets: Socket[] = []
  web.server.on('connection', socket => sockets.push(socket))
  const url = `http://127.0.0.1:${web.port}/`
  await sendGet(port, url)
  sockets[0]?.resetAndDestroy()

  expect(statusOf(await sendGet(port, url))).toBe(200)
})

test('a tunnel carries bytes both ways, what was sent with the CONNECT too', async () => {
  const echo = await echoServer()
  const { port } = await egressWorld(allowing([echo.port]))
  const socket = connect(port, '127.0.0.1')
  socket.write(`CONNECT 127.0.0.1:${echo.port} HTTP/1.1\r\nHost: 127.0.0.1:${echo.port}\r\n\r\nearly`)
  let text = ''
  socket.setEncoding('latin1').on('data', chunk => {
    text += chunk
  })
  await vi.waitUntil(() => text.endsWith('early'), LONG)
  socket.end('late')
  await once(socket, 'close')

  expect(text).toBe('HTTP/1.1 200 Connection Established\r\n\r\nearlylate')
})

test('a big response arrives whole after the client has ended its side', async () => {
  const size = 8 * 1024 * 1024
  const server = createTcpServer({ allowHalfOpen: true }, socket => {
    socket.resume().on('end', () => socket.end(Buffer.alloc(size, 1)))
  })
  const target = await listenOn(server)
  const { port } = await egressWorld(allowing([target]))
  const { socket } = await openTunnel(port, `127.0.0.1:${target}`)
  let received = 0
  socket.on('data', chunk => {
    received += chunk.length
  })
  socket.end()
  await once(socket, 'close')

  expect(received).toBe(size)
})

test('a client that does not read stops the server from sending', async () => {
  let sent = 0
  const server = createTcpServer(socket => {
    const chunk = Buffer.alloc(64 * 1024)
    const send = () => {
      do sent += chunk.length
      while (socket.write(chunk) && sent < 2 ** 30)
    }
    socket.on('drain', send).on('error', () => undefined)
    send()
  })
  const target = await listenOn(server)
  const { port } = await egressWorld(allowing([target]))
  const { socket } = await openTunnel(port, `127.0.0.1:${target}`)
  socket.pause()
  let before = -1
  await vi.waitUntil(
    () => {
      const still = sent === before
      before = sent
      return still
    },
    { interval: 300, timeout: 20_000 },
  )

  expect(sent).toBeLessThan(64 * 1024 * 1024)
})

test('data that a server sends first arrives after the response to CONNECT, every byte in order', async () => {
  const bytes = Buffer.from(Array.from({ length: 3_000_000 }, (_, i) => (i * 7 + (i >> 8)) & 255))
  const target = await listenOn(
    createTcpServer(socket => void socket.on('error', () => undefined).end(bytes)),
  )
  const { port } = await egressWorld(allowing([target]))
  const socket = connect({ port, host: '127.0.0.1' })
  socket.write(`CONNECT 127.0.0.1:${target} HTTP/1.1\r\nHost: 127.0.0.1:${target}\r\n\r\n`)
  const chunks: Buffer[] = []
  for await (const chunk of socket) {
    chunks.push(chunk)
    // A slow reader makes the proxy wait now and then.
    if (chunks.length % 8 === 0) await new Promise(setImmediate)
  }
  const all = Buffer.concat(chunks)
  const head = 'HTTP/1.1 200 Connection Established\r\n\r\n'

  expect(all.subarray(0, head.length).toString()).toBe(head)
  expect(all.subarray(head.length).equals(bytes)).toBe(true)
})

test('a reader that stops for a while loses nothing', async () => {
  const bytes = Buffer.alloc(24 * 1024 * 1024, 'abcdefghijk')
  const target = await listenOn(
    createTcpServer(socket => void socket.on('error', () => undefined).end(bytes)),
  )
  const { port } = await egressWorld(allowing([target]))
  const { socket, answer } = await openTunnel(port, `127.0.0.1:${target}`)
  socket.pause()
  const chunks = [Buffer.from(answer.slice(answer.indexOf('\r\n\r\n') + 4), 'latin1')]
  await vi.waitUntil(() => socket.readableLength > 0, LONG)
  socket.on('data', chunk => chunks.push(chunk)).resume()
  await once(socket, 'end')
  expect(Buffer.concat(chunks).equals(bytes)).toBe(true)
})

test('an upload arrives whole though both sides have ended and the server reads slowly', async () => {
  const size = 8 * 1024 * 1024
  let received = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  const server = createTcpServer({ allowHalfOpen: true, highWaterMark: 1024 }, socket => {
    socket.end() // it says nothing; the client may go on
    socket.on('close', resolve).on('error', () => resolve())
    socket.on('data', chunk => {
      received += chunk.length
      socket.pause()
      setImmediate(() => socket.resume())
    })
  })
  const target = await listenOn(server)
  const { port } = await egressWorld(allowing([target]))
  const { socket } = await openTunnel(port, `127.0.0.1:${target}`)
  socket.resume().end(Buffer.alloc(size, 1))
  await promise

  expect(received).toBe(size)
})

test('a client that disconnects closes its tunnel', async () => {
  const echo = await echoServer()
  const { port } = await egressWorld(allowing([echo.port]))
  const { socket } = await openTunnel(port, `127.0.0.1:${echo.port}`)
  const [upstream] = echo.sockets
  socket.resetAndDestroy()
  await vi.waitUntil(() => upstream?.destroyed, LONG)
})

test('a server that breaks off takes the tunnel along', async () => {
  const echo = await echoServer()
  const { port } = await egressWorld(allowing([echo.port]))
  const { socket } = await openTunnel(port, `127.0.0.1:${echo.port}`)
  echo.sockets[0]?.resetAndDestroy()
  await once(socket, 'end')
  expect(echo.sockets[0]?.destroyed).toBe(true)
})

test('a tunnel in which nothing moves is closed', async () => {
  const echo = await echoServer()
  const { port } = await egressWorld(allowing([echo.port]), { limits: { idleMs: 50 } })
  const { socket } = await openTunnel(port, `127.0.0.1:${echo.port}`)
  await once(socket, 'end')
  await vi.waitUntil(() => echo.sockets[0]?.destroyed, LONG)
})

test('a tunnel closed on one side only is closed when nothing moves', async () => {
  const server = createTcpServer({ allowHalfOpen: true }, socket => void socket.resume())
  const target = await listenOn(server)
  const { port } = await egressWorld(allowing([target]), { limits: { halfOpenMs: 50 } })
  const { socket } = await openTunnel(port, `127.0.0.1:${target}`)
  socket.end()
  await once(socket, 'close')
})

test('a request that does not arrive whole gets 408', async () => {
  const { port } = await egressWorld(undefined, { limits: { headersMs: 50, checkMs: 20 } })
  expect(statusOf(await sendRaw(port, 'GET http://a.test/ HTTP/1.1\r\nHost: a.te'))).toBe(408)
})

test('a connection that says nothing is closed', async () => {
  const { port } = await egressWorld(undefined, { limits: { headersMs: 50, checkMs: 20 } })
  expect(statusOf(await sendRaw(port, ''))).toBe(408)
})

test('a CONNECT sent behind a request in progress is not served', async () => {
  const silent = await listenOn(createTcpServer(socket => void socket.on('error', () => undefined).resume()))
  const echo = await echoServer()
  const { port, dialled } = await egressWorld(allowing([silent, echo.port]))
  const first = `GET http://127.0.0.1:${silent}/ HTTP/1.1\r\nHost: 127.0.0.1:${silent}\r\n\r\n`
  const second = `CONNECT 127.0.0.1:${echo.port} HTTP/1.1\r\nHost: 127.0.0.1:${echo.port}\r\n\r\n`

  expect(await sendRaw(port, first + second)).toBe('')
  expect(dialled.map(({ port }) => port)).not.toContain(echo.port)
})

test('the response to a denied request names the rule and the line to add', async () => {
  const { port, dialled } = await egressWorld(allowing([80], 'b.test'), { names: {} })

  const answer = await sendGet(port, 'http://a.test/')

  expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/)
  expect(answer).toMatch(/Proxy-Status: keelson; error=http_request_denied\r\n/)
  expect(answer).toMatch(/"one" may not connect to a\.test:80\.\nRule: not_in_allow_host\n/)
  expect(answer).toMatch(/"allow_host": \["127\.0\.0\.1","b\.test","a\.test"\]/)
  expect(dialled).toEqual([])
})

test('a denied CONNECT gets the same response and is closed', async () => {
  const { port } = await egressWorld(undefined)
  const { socket, answer } = await openTunnel(port, '169.254.169.254:80')
  expect(answer).toMatch(/^HTTP\/1\.1 403 .*Rule: metadata\n/s)
  await once(socket.resume(), 'end')
})

test('a denied gateway names the flag', async () => {
  const { port } = await egressWorld(undefined)
  expect(await sendGet(port, 'http://host.docker.internal/')).toMatch(
    /run the workload with:\n {2}--allow-docker-gateway\n/,
  )
})

test('a server that refuses the connection is 502, for a request with a body too', async () => {
  const closed = createTcpServer()
  const target = await listenOn(closed)
  await new Promise(resolve => closed.close(resolve))
  const { port } = await egressWorld(allowing([target]))
  const authority = `127.0.0.1:${target}`

  expect(statusOf(await sendGet(port, `http://${authority}/`))).toBe(502)
  const post = `POST http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\nContent-Length: 3\r\n\r\nabc`
  expect(statusOf(await sendRaw(port, post))).toBe(502)
  expect((await openTunnel(port, authority)).answer).toMatch(/^HTTP\/1\.1 502 .*ECONNREFUSED/s)
})

test('a server that stops answering is 504', async () => {
  const silent = await listenOn(createTcpServer(socket => void socket.resume()))
  const { port } = await egressWorld(allowing([silent]), { limits: { idleMs: 100 } })
  expect(await sendGet(port, `http://127.0.0.1:${silent}/`)).toMatch(
    /^HTTP\/1\.1 504 .*did not respond in time/s,
  )
})

test('a name without an address is 502', async () => {
  const { port } = await egressWorld(undefined, { names: {} })
  expect(await sendGet(port, 'http://nowhere.test/')).toMatch(/^HTTP\/1\.1 502 .*no address was found/s)
})

test('a name server that is silent is 502 in time', async () => {
  const { port } = await egressWorld(undefined, {
    resolve: () => new Promise(() => undefined),
    limits: { resolveMs: 50 },
  })
  expect(statusOf(await sendGet(port, 'http://slow.test/'))).toBe(502)
})

test('the second address is tried when the first refuses', async () => {
  const web = await webServer()
  const { port, dialled } = await egressWorld(
    { network: { outbound: { allow_host: ['two.test', '127.0.0.1', '127.0.0.9'] } } },
    { names: { 'two.test': ['127.0.0.9', '127.0.0.1'] } },
  )
  expect(statusOf(await sendGet(port, `http://two.test:${web.port}/`))).toBe(200)
  expect(dialled.map(({ address }) => address)).toEqual(['127.0.0.9', '127.0.0.1'])
})

test('a response that breaks off breaks off for the client', async () => {
  const target = await listenOn(
    createTcpServer(socket => {
      socket.on('error', () => undefined)
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf', () => socket.destroy())
    }),
  )
  const { port } = await egressWorld(allowing([target]))
  const answer = await sendGet(port, `http://127.0.0.1:${target}/`)
  expect(answer).toMatch(/Content-Length: 100\r\n/)
  expect(answer).toMatch(/half$/)
})

test('a response that is not HTTP is 502', async () => {
  const target = await listenOn(
    createTcpServer(socket => void socket.on('error', () => undefined).end('SSH-2.0-x\r\n')),
  )
  const { port } = await egressWorld(allowing([target]))
  expect(statusOf(await sendGet(port, `http://127.0.0.1:${target}/`))).toBe(502)
})

test('the proxy does not connect to itself, nor to another listener', async () => {
  const world = await egressWorld(allowing([]), {})
  const other = await world.open('two', undefined)
  await world.listener.update(compilePolicy({ network: { outbound: { allow_host: ['127.0.0.1'] } } }))
  for (const port of [world.port, portOf(other)]) {
    expect(await sendGet(world.port, `http://127.0.0.1:${port}/`)).toMatch(/Rule: proxy_itself/)
  }
  expect(world.dialled).toEqual([])
})

test('each listener has the policy of its own workload', async () => {
  const web = await webServer()
  const world = await egressWorld(allowing([web.port]))
  const two = await world.open('two', { network: {} })
  const url = `http://127.0.0.1:${web.port}/`

  expect(statusOf(await sendGet(world.port, url, ['X-Workload: two']))).toBe(200)
  expect(statusOf(await sendGet(portOf(two), url, ['X-Workload: one']))).toBe(403)
  expect(world.events.map(({ workload, allowed }) => [workload, allowed])).toEqual([
    ['one', true],
    ['two', false],
  ])
})

test('a narrower policy breaks off what it no longer allows, and only that', async () => {
  const [keep, drop] = await Promise.all([echoServer(), echoServer()])
  const { port, listener } = await egressWorld(allowing([keep.port, drop.port]))
  const kept = await openTunnel(port, `127.0.0.1:${keep.port}`)
  const dropped = await openTunnel(port, `127.0.0.1:${drop.port}`)

  const closed = once(dropped.socket, 'end')
  await listener.update(compilePolicy(allowing([keep.port])))
  await closed

  kept.socket.write('still')
  expect(String(await once(kept.socket, 'data'))).toBe('still')
})

test('a policy that changes while a name is looked up decides', async () => {
  const web = await webServer()
  const { promise: answer, resolve: answerNow } = Promise.withResolvers<string[]>()
  const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>()
  const { port, listener, dialled } = await egressWorld(allowing([web.port], 'app.test'), {
    resolve: () => {
      onAsked()
      return answer
    },
  })
  const reply = sendGet(port, `http://app.test:${web.port}/`)
  await asked
  await listener.update(compilePolicy({ network: {} }))
  answerNow(['127.0.0.1'])

  expect(statusOf(await reply)).toBe(403)
  expect(dialled).toEqual([])
})

test('a closed listener accepts no connection and closes those that are open', async () => {
  const echo = await echoServer()
  const { port, listener } = await egressWorld(allowing([echo.port]))
  const { socket } = await openTunnel(port, `127.0.0.1:${echo.port}`)
  const ended = once(socket, 'end')
  await listener.close()
  await listener.close()
  await ended
  await vi.waitUntil(() => echo.sockets[0]?.destroyed, LONG)
  const [error] = await once(connect(port, '127.0.0.1'), 'error')
  expect(error).toMatchObject({ code: 'ECONNREFUSED' })
})

test('more connections than the limit are closed at once', async () => {
  const echo = await echoServer()
  const { port, lines } = await egressWorld(allowing([echo.port]), { limits: { maxConnections: 2 } })
  await openTunnel(port, `127.0.0.1:${echo.port}`)
  await openTunnel(port, `127.0.0.1:${echo.port}`)
  for (let i = 0; i < 3; i++) expect(await sendGet(port, `http://127.0.0.1:${echo.port}/`)).toBe('')
  expect(lines.filter(line => line.level === 'WARN')).toMatchObject([{ workload: 'one', limit: 2 }])
})

async function socketPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'egress-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'egress.sock')
}

test('a listener may be a socket file, for its owner alone', async () => {
  const web = await webServer()
  const path = await socketPath()
  await egressWorld(allowing([web.port]), { listen: { path } })

  expect(statusOf(await sendGet(path, `http://127.0.0.1:${web.port}/`))).toBe(200)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  const authority = `127.0.0.1:${web.port}`
  const inside = `GET /in HTTP/1.1\r\nHost: ${authority}\r\nConnection: close\r\n\r\n`
  const tunnel = `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n${inside}`
  expect(await sendRaw(path, tunnel)).toMatch(
    /^HTTP\/1\.1 200 Connection Established\r\n\r\nHTTP\/1\.1 200 OK/,
  )
  expect(web.seen.at(-1)?.url).toBe('/in')
})

test('an abandoned socket file is replaced, one in use is not', async () => {
  const path = await socketPath()
  const killed = `require('net').createServer().listen('${path}', () => process.kill(process.pid, 'SIGKILL'))`
  await execa(process.execPath, ['-e', killed], { reject: false })
  expect((await stat(path)).isSocket()).toBe(true)

  const world = await egressWorld({}, { listen: { path } })
  await expect(world.open('two', {}, { path })).rejects.toSatisfy(error =>
    isFailure(error, 'egress_listener_unusable'),
  )
  expect(statusOf(await sendGet(path, 'http://a.test/'))).toBe(403)
})

test('a foreign address, or a file at the path of the socket, makes the listener fail with the reason', async () => {
  const world = await egressWorld({})
  const path = await socketPath()
  await writeFile(path, 'not a socket')
  await expect(world.open('two', {}, { host: '203.0.113.9', port: 0 })).rejects.toThrow(
    /"two" cannot listen on 203\.0\.113\.9:0/,
  )
  await expect(world.open('two', {}, { path })).rejects.toThrow(/cannot listen on/)
  expect(await readFile(path, 'utf8')).toBe('not a socket')
})

test('a denial is one line and one event; the same again only an event', async () => {
  const { port, lines, events } = await egressWorld({ network: {} })
  for (let i = 0; i < 3; i++) await sendGet(port, 'http://a.test/')

  const denials = lines.filter(line => line.msg === 'egress denied')
  expect(denials).toMatchObject([
    { level: 'WARN', workload: 'one', host: 'a.test', port: 80, rule: 'nothing_allowed' },
  ])
  expect(events.map(event => event.logged)).toEqual([true, false, false])
})

test('allowed connections are logged at debug level', async () => {
  const web = await webServer()
  const { port, lines } = await egressWorld(allowing([web.port]))
  await sendGet(port, `http://127.0.0.1:${web.port}/secret-path`)
  expect(lines).toMatchObject([
    { level: 'DEBUG', msg: 'egress allowed', host: '127.0.0.1', rule: 'allow_host' },
  ])
  expect(JSON.stringify(lines)).not.toContain('secret-path')
})
