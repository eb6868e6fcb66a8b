import { expect, onTestFinished, test } from 'vitest'
import { withServer } from '../../../plugins/mcp/connect.ts'
import { createLog } from '../../../src/log.ts'
import { startApi } from '../../support/api-server.ts'
import { startTinyMcp } from '../../support/tiny-mcp.ts'
import { everything, serve } from './servers.ts'

const tools = (name: string) => `/api/v1beta/workloads/${name}/tools`

test('tools of a running workload are listed as its server describes them', async () => {
  const api = await startApi()
  await api.ask('POST', '/api/v1beta/workloads', { name: 'all', url: await everything('streamableHttp') })
  await api.untilStatus('all', 'running')

  const answer = await api.ask('GET', tools('all'))

  expect(answer.status).toBe(200)
  const listed = (answer.json() as { tools: { name: string }[] }).tools
  expect(listed.find(({ name }) => name === 'echo')).toMatchObject({
    description: expect.stringContaining('cho'),
    inputSchema: { properties: { message: { type: 'string' } }, required: ['message'] },
  })
})

/** The events of a call, each with its data. */
async function call(url: string, name: string, body: object) {
  const path = `/api/v1beta/workloads/${name}/tools/call`
  const response = await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) })
  const text = await response.text()
  const events = [...text.matchAll(/event: (.*)\ndata: (.*)\n/g)]
  return {
    status: response.status,
    text,
    events: events.map(([, event, data = '']) => [event, JSON.parse(data)]),
  }
}

test('a tool is called, and its progress, result or failure comes as events', async () => {
  const api = await startApi()
  await api.ask('POST', '/api/v1beta/workloads', { name: 'all', url: await everything('streamableHttp') })
  await api.untilStatus('all', 'running')

  const sum = await call(api.url, 'all', { name: 'get-sum', arguments: { a: 2, b: 3 } })
  expect([sum.status, sum.events]).toEqual([
    200,
    [['result', expect.objectContaining({ content: [{ type: 'text', text: 'The sum of 2 and 3 is 5.' }] })]],
  ])
  const slow = { name: 'trigger-long-running-operation', arguments: { duration: 2, steps: 4 } }
  const { events } = await call(api.url, 'all', slow)
  expect(events.map(([name]) => name)).toEqual(expect.arrayContaining(['progress', 'result']))
  expect(events[0]).toEqual(['progress', expect.stringMatching(/ of 4/)])
  expect((await call(api.url, 'all', { name: 'get-sums' })).events).toEqual([
    ['failure', { code: 'not_found', message: 'The server has no tool "get-sums".' }],
  ])
})

test('a call is refused when its workload is unknown or stopped, or its body is wrong', async () => {
  const api = await startApi()
  await api.ask('POST', '/api/v1beta/workloads', { name: 'tiny', url: await startTinyMcp() })
  await api.untilStatus('tiny', 'running')

  expect((await call(api.url, 'nobody', { name: 'x' })).status).toBe(404)
  expect((await call(api.url, 'tiny', { arguments: {} })).status).toBe(400)
  expect((await call(api.url, 'tiny', { name: 'x', arguments: [] })).status).toBe(400)
  await api.ask('POST', '/api/v1beta/workloads/tiny/stop')
  await api.untilStatus('tiny', 'stopped')
  expect((await call(api.url, 'tiny', { name: 'x' })).status).toBe(409)
})

test('the tools of a workload that is unknown, stopped, or requires a login are refused with that reason', async () => {
  const api = await startApi()
  const [url, closed] = await Promise.all([
    startTinyMcp(),
    serve((request, response) => {
      request.resume()
      response.writeHead(401).end()
    }),
  ])
  await api.ask('POST', '/api/v1beta/workloads', { name: 'tiny', url })
  await api.untilStatus('tiny', 'running')

  expect((await api.ask('GET', tools('nobody'))).status).toBe(404)
  expect((await api.ask('GET', tools('a b'))).status).toBe(400)
  expect((await api.ask('GET', tools('tiny'))).json()).toEqual({ tools: [] })
  await api.ask('POST', '/api/v1beta/workloads/tiny/stop')
  await api.untilStatus('tiny', 'stopped')
  const stopped = await api.ask('GET', tools('tiny'))
  expect([stopped.status, stopped.text]).toEqual([
    409,
    'The workload "tiny" is not running: it is stopped.\n',
  ])

  await api.ask('POST', '/api/v1beta/workloads', { name: 'closed', url: `${closed}/mcp` })
  await expect
    .poll(async () => (await api.ask('GET', tools('closed'))).text)
    .toMatch(/requires a login|not running: it is (unauthenticated|error)/)
})

test('a caller may disconnect at any moment', { timeout: 120_000 }, async () => {
  const api = await startApi()
  await api.ask('POST', '/api/v1beta/workloads', { name: 'all', url: await everything('streamableHttp') })
  await api.untilStatus('all', 'running')

  for (let wait = 0; wait < 40; wait += 2) {
    const signal = AbortSignal.timeout(wait)
    await fetch(`${api.url}${tools('all')}`, { signal }).catch(() => undefined)
  }

  expect((await api.ask('GET', tools('all'))).status).toBe(200)
  expect(api.log()).not.toContain('escaped')
})

test('a server that is not waited for any more leaves no error behind', async () => {
  const url = new URL(await startTinyMcp())
  const errors: unknown[] = []
  const hear = (error: unknown) => errors.push(error)
  process.on('unhandledRejection', hear)
  onTestFinished(() => void process.off('unhandledRejection', hear))

  const log = createLog({ write: () => {}, human: true, debug: false })
  const asked = withServer(
    { url, transport: 'auto' },
    { timeoutMs: 10_000, signal: AbortSignal.abort(new Error('gone')), log },
    async () => undefined,
  )

  await expect(asked).rejects.toThrow()
  await new Promise(resolve => setImmediate(resolve))
  expect(errors).toEqual([])
})
