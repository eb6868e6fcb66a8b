import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { startApi } from '../../support/api-server.ts'
import { listen } from '../../support/listen.ts'
import { startTinyMcp } from '../../support/tiny-mcp.ts'

async function apiWithWorkload() {
  const api = await startApi()
  await api.ask('POST', '/api/v1beta/workloads', { name: 'a', url: await startTinyMcp() })
  await api.untilStatus('a', 'running')
  return { api, log: join(api.user.home, '.local/share/keelson/logs/a.log') }
}

test('the log of a proxy is streamed from its last lines on, each piece a JSON string', async () => {
  const { api, log } = await apiWithWorkload()
  await mkdir(dirname(log), { recursive: true })
  await writeFile(log, 'before "quoted"\n')

  const stream = await listen(`${api.url}/api/v1beta/workloads/a/proxy-logs/stream`)

  expect(stream.response.headers.get('content-type')).toBe('text/event-stream')
  await stream.until('event: log\ndata: "before \\"quoted\\"\\n"')
  await appendFile(log, 'after é\n')
  expect(await stream.until('after é')).toContain('event: log')
})

test('a log that cannot be read is an error instead of a stream', async () => {
  const { api } = await apiWithWorkload()
  const missing = await api.ask('GET', '/api/v1beta/workloads/a/logs/stream')
  expect([missing.status, missing.text]).toEqual([404, 'The workload "a" has no log of its own.\n'])
  expect((await api.ask('GET', '/api/v1beta/workloads/b/proxy-logs/stream')).status).toBe(404)
  expect((await api.ask('GET', '/api/v1beta/workloads/a%20b/logs/stream')).status).toBe(400)
})

test('streams of logs and of events count together, and are given back when the caller goes away', {
  timeout: 60_000,
}, async () => {
  const { api } = await apiWithWorkload()
  const url = `${api.url}/api/v1beta/workloads/a/proxy-logs/stream`
  const open = await Promise.all(Array.from({ length: 100 }, () => listen(url)))
  expect(open.map(({ response }) => response.status)).toEqual(open.map(() => 200))

  expect((await api.ask('GET', '/api/v1beta/events')).status).toBe(429)
  for (const stream of open.slice(0, 2)) stream.leave()

  await expect
    .poll(
      async () => {
        const next = await listen(url)
        return next.response.status
      },
      { timeout: 20_000 },
    )
    .toBe(200)
})
