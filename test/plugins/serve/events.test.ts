import { once } from 'node:events'
import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type ApiServer, startApi } from '../../support/api-server.ts'
import { listen } from '../../support/listen.ts'
import { startTinyMcp } from '../../support/tiny-mcp.ts'

const follow = (api: ApiServer) => listen(`${api.url}/api/v1beta/events`)

test('who listens hears of all workloads, and of what the command line does to them', async () => {
  const api = await startApi()
  const url = await startTinyMcp()
  await api.ask('POST', '/api/v1beta/workloads', { name: 'there', url })
  const events = await follow(api)
  expect(events.response.headers.get('content-type')).toBe('text/event-stream')

  await events.until('event: workload\ndata: {"name":"there"')
  expect((await api.user.run(['run', url, '--name', 'new'])).code).toBe(0)
  await events.until('{"name":"new"')
  await api.user.run(['rm', 'new'])
  expect(await events.until('event: workload-removed')).toContain('data: {"name":"new"}')
})

test('who listens hears what a workload is denied', async () => {
  const api = await startApi()
  const events = await follow(api)
  await events.until('event: listed')
  const log = join(api.user.home, '.local/share/keelson/logs/fetch.log')
  const line = {
    level: 'WARN',
    msg: 'egress denied',
    host: 'evil.test',
    port: 443,
    rule: 'not_in_allow_host',
  }

  await writeFile(log, `${JSON.stringify(line)}\n`)

  await events.until('event: egress-denied\ndata: {"host":"evil.test","port":443')
  expect(await events.until('"workload":"fetch"')).toContain('not_in_allow_host')
})

test('a stream ends with the server', async () => {
  const api = await startApi()
  const events = await follow(api)
  await events.until('hello')

  const [code] = await Promise.all([api.stop(), events.end()])

  expect(code).toBe(143)
})

test('streams end with the server, also those that nobody reads from', async () => {
  const api = await startApi()
  await api.ask('POST', '/api/v1beta/workloads', { name: 'a', url: await startTinyMcp() })
  await api.untilStatus('a', 'running')
  const paths = ['events', 'events', 'workloads/a/proxy-logs/stream', 'workloads/a/proxy-logs/stream']
  await Promise.all(paths.map(path => openAndStall(`${api.url}/api/v1beta/${path}`)))
  const events = await follow(api)
  await events.until('event: listed')
  // More than the kernel keeps for a reader that does not read.
  await appendFile(
    join(api.user.home, '.local/share/keelson/logs/a.log'),
    `${'x'.repeat(1000)}\n`.repeat(16_000),
  )

  const start = performance.now()
  const [code] = await Promise.all([api.stop(), events.end()])

  expect(code).toBe(143)
  expect(performance.now() - start).toBeLessThan(GRACE_MS)
}, 90_000)

/** How long the server waits for requests that are under way. Streams are cut sooner. */
const GRACE_MS = 30_000

/** Opens a stream, and reads no further than its head. */
async function openAndStall(url: string): Promise<void> {
  const { hostname, port, pathname } = new URL(url)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => undefined) // a connection that is cut may be reset
  socket.write(`GET ${pathname} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`)
  await once(socket, 'readable')
}

test('the server hosts the workloads, and hands them over when it ends: the same port responds again', async () => {
  const api = await startApi()
  const url = await startTinyMcp()
  const made = await api.ask('POST', '/api/v1beta/workloads', { name: 'a', url })
  const { port } = made.json() as { port: number }
  await api.untilStatus('a', 'running')
  const status = async () =>
    JSON.parse(await readFile(join(api.user.home, '.local/share/keelson/statuses/a.json'), 'utf8'))
  expect(await status()).toMatchObject({ process_id: api.process.pid })

  await api.stop()

  await expect.poll(status).toMatchObject({ status: 'running' })
  await expect.poll(async () => (await status()).process_id).not.toBe(api.process.pid)
  const answer = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  })
  expect(answer.status).toBe(200)
})
