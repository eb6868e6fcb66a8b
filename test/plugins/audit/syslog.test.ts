import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { checkSyslog } from '../../../plugins/audit/syslog.ts'
import { syslogProblem } from '../../../plugins/audit/syslog-address.ts'
import { LONGEST_LINE, toSyslogLine } from '../../../plugins/audit/syslog-line.ts'
import { isPortFree } from '../../../src/lib/ports.ts'
import { until } from '../../e2e/home.ts'
import { post, rpc, testServer } from '../proxy/test-proxy.ts'
import { auditedProxy, type Event } from './audited-proxy.ts'

const target = () =>
  testServer((request, response) => void request.resume().on('end', () => response.end('{}')))

/** RFC 5424, section 6: header, no structured data, then the event. */
const MESSAGE = /^<86>1 \S+ \S+ keelson \S+ - (?:-|\[.*?\]) ?(\{.*\})\s*$/su
const eventOf = (message: string): Event => JSON.parse(MESSAGE.exec(message)?.[1] ?? 'null')

/** A syslog over TCP that reads messages by their lengths (RFC 6587, section 3.4.1). */
async function tcpSyslog(port = 0) {
  const messages: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    let rest = Buffer.alloc(0)
    socket.on('error', () => {})
    socket.on('data', chunk => {
      rest = Buffer.concat([rest, chunk])
      for (;;) {
        const length = /^(\d+) /.exec(rest.toString('latin1', 0, 12))
        const end = length ? length[0].length + Number(length[1]) : Number.POSITIVE_INFINITY
        if (!length || rest.length < end) return
        messages.push(rest.toString('utf8', length[0].length, end))
        rest = rest.subarray(end)
      }
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  onTestFinished(close)
  const { port: at } = server.address() as { port: number }
  return { address: `tcp://127.0.0.1:${at}`, port: at, messages, close }
}

test('events go to a syslog over TCP, and to the file beside it where one is named', async () => {
  const syslog = await tcpSyslog()
  const proxy = await auditedProxy({ target: await target(), audit: { syslog: syslog.address } })
  for (const id of [1, 2, 3]) await (await post(proxy.url, rpc('tools/call', id, { name: 'naïve' }))).text()
  await until(async () => expect(syslog.messages).toHaveLength(3))
  expect(syslog.messages.map(eventOf)).toMatchObject(
    [1, 2, 3].map(jsonrpc_id => ({
      ...{ type: 'mcp_tool_call', outcome: 'success', target: { name: 'naïve' } },
      metadata: { extra: { jsonrpc_id } },
    })),
  )
  expect(proxy.events()).toEqual(syslog.messages.map(eventOf))
})

test('a syslog gets no characters that steer a terminal', async () => {
  const syslog = await tcpSyslog()
  const proxy = await auditedProxy({ target: await target(), audit: { syslog: syslog.address } })
  const name = 'a\u001b[31m\u0085\u009b2J\u202eevil\u2066\u2028'
  await (await post(proxy.url, rpc('tools/call', 1, { name }))).text()
  await until(async () => expect(syslog.messages).toHaveLength(1))
  expect(syslog.messages[0]).not.toMatch(/[\p{Cc}\p{Zl}\u202a-\u202e\u2066-\u2069]/u)
  expect(syslog.messages.map(eventOf)).toMatchObject([{ target: { name } }])
})

test('an event that is too long for a syslog is one message, and says what it lacks', async () => {
  const syslog = await tcpSyslog()
  const audit = { syslog: syslog.address, includeRequestData: true, maxDataSize: 200_000 }
  const proxy = await auditedProxy({ target: await target(), audit })
  for (const [id, size] of [
    [1, 100_000],
    [2, 10],
  ] as const) {
    const call = rpc('tools/call', id, { name: 'a', arguments: { text: 'é'.repeat(size) } })
    await (await post(proxy.url, call)).text()
  }
  await until(async () => expect(syslog.messages).toHaveLength(2))
  const [long, short] = syslog.messages.map(eventOf)
  expect(long).not.toHaveProperty('data')
  expect(long).toMatchObject({
    ...{ type: 'mcp_tool_call', target: { name: 'a' } },
    metadata: {
      extra: { jsonrpc_id: 1, syslog_cut: 'data', syslog_bytes: expect.toSatisfy(n => n > 200_000) },
    },
  })
  expect(short).toMatchObject({ data: { request: { id: 2 } } })
  expect(short?.metadata.extra).not.toHaveProperty('syslog_cut')
  expect(proxy.events()[0]).toMatchObject({ data: { request: { id: 1 } } })
})

test('an event whose core alone fits keeps that', () => {
  const target = { name: 'x'.repeat(LONGEST_LINE) }
  const event = { type: 'mcp_ping', audit_id: 'a', outcome: 'success', target, metadata: { extra: {} } }
  expect(JSON.parse(toSyslogLine(event))).toEqual({
    ...{ type: 'mcp_ping', audit_id: 'a', outcome: 'success' },
    metadata: {
      extra: { syslog_cut: 'all but its core', syslog_bytes: Buffer.byteLength(JSON.stringify(event)) },
    },
  })
})

test('over UDP, too', async () => {
  const socket = createSocket('udp4')
  onTestFinished(() => void socket.close())
  const messages: string[] = []
  socket.on('message', message => messages.push(message.toString()))
  await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve))
  const syslog = `udp://127.0.0.1:${socket.address().port}`
  const proxy = await auditedProxy({ target: await target(), audit: { syslog } })
  await (await post(proxy.url, rpc('ping', 1))).text()
  await until(async () => expect(messages).toHaveLength(1))
  expect(messages.map(eventOf)).toMatchObject([{ type: 'mcp_ping' }])
})

test('a syslog that is away refuses calls where that is asked for, and gets events when it is back', async () => {
  const first = await tcpSyslog()
  first.close()
  await until(async () => expect(await isPortFree(first.port)).toBe(true))
  const audit = { syslog: first.address, onError: 'refuse' } as const
  await expect(checkSyslog(first.address)).rejects.toThrow(`${first.address} cannot be reached`)
  const proxy = await auditedProxy({ target: await target(), audit })
  const call = async () => (await post(proxy.url, rpc('ping', 1))).status
  await until(async () => expect(await call()).toBe(503))
  const back = await tcpSyslog(first.port)
  await until(async () => {
    await call()
    expect(back.messages.length).toBeGreaterThan(0)
  })
  expect(await call()).toBe(200)
})

test.each([
  'localhost:514',
  'tcp://',
  'tcp://log.example',
  'http://log.example:514',
  'udp://u:p@log.example:514',
  'tcp://-x y:514',
  'tcp://log.example:514/path',
])('%s is no address of a syslog', address => {
  expect(syslogProblem(address)).toContain('syslog is "local"')
})

test.each(['local', 'udp://[::1]:514', 'tcp://log.example:601'])('%s is one', address => {
  expect(syslogProblem(address)).toBeUndefined()
})
