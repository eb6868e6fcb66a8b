import { join } from 'node:path'
import { request } from 'undici'
import { expect, test } from 'vitest'
import { createSender } from '../../../plugins/telemetry/otlp/create-sender.ts'
import { createLog } from '../../../src/log.ts'
import { freePort } from '../../support/free-port.ts'
import { readEvents, temporaryFolder } from '../audit/audited-proxy.ts'
import { post, rpc, testServer, until } from '../proxy/test-proxy.ts'
import { startCollector } from './collector.ts'
import { telemetryFactories, telemetryProxy } from './telemetry-proxy.ts'

const server = () =>
  testServer(async (request, response) => {
    let text = ''
    for await (const part of request) text += part
    const { id } = JSON.parse(text)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
  })

const call = async (origin: string, name: string) =>
  (await post(`${origin}/mcp`, rpc('tools/call', 1, { name }))).text()

test('Prometheus reads all workloads on one port, and each on the port of its proxy', async () => {
  const prometheusPort = await freePort()
  const factories = telemetryFactories()
  const open = async (name: string, more: object = {}) =>
    telemetryProxy({
      target: await server(),
      config: { name },
      factories,
      telemetry: { enablePrometheusMetricsPath: true, prometheusPort, ...more },
    })
  const [a, b] = [await open('a'), await open('b', { metricsOnTransportPort: false })]
  await call(a.origin, 'echo')
  await call(b.origin, 'echo')
  await call(b.origin, 'echo')

  const shared = `http://127.0.0.1:${prometheusPort}/metrics`
  await until(() =>
    fetch(shared).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  const text = await (await fetch(shared)).text()
  const count = (name: string, n: number) =>
    `toolhive_mcp_tool_calls_total{server="${name}",tool="echo",status="success"} ${n}\n`
  expect(text).toContain(count('a', 1))
  expect(text).toContain(count('b', 2))
  expect(text.match(/^# TYPE .*$/gm)?.toSorted()).toEqual([
    '# TYPE mcp_server_operation_duration_seconds histogram',
    '# TYPE toolhive_mcp_active_connections gauge',
    '# TYPE toolhive_mcp_request_duration_seconds histogram',
    '# TYPE toolhive_mcp_requests_total counter',
    '# TYPE toolhive_mcp_tool_calls_total counter',
  ])
  const rebound = await request(shared, { headers: { host: 'evil.example' } })
  expect([rebound.statusCode, await rebound.body.text()]).toEqual([403, 'Host not allowed'])

  const own = await fetch(`${a.origin}/metrics`)
  expect(own.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  const ownText = await own.text()
  expect(ownText).toContain(count('a', 1))
  expect(ownText).not.toContain('server="b"')
  expect((await fetch(`${b.origin}/metrics`)).status).toBe(404)

  await a.close()
  expect(await (await fetch(shared)).text()).not.toContain('server="a"')
  await b.close()
  await expect(fetch(shared)).rejects.toThrow()
})

test('callers cannot make labels without end, and passwords in their values are hidden', async () => {
  const proxy = await telemetryProxy({
    target: await server(),
    telemetry: { enablePrometheusMetricsPath: true, prometheusPort: await freePort() },
  })
  const long = 'é'.repeat(200)
  const names = [
    long,
    'db://user:hidden-one@host',
    ...Array.from({ length: 209 }, (_, index) => `tool-${index}`),
  ]
  for (const name of names) {
    await call(proxy.origin, name)
  }
  const text = await (await fetch(`${proxy.origin}/metrics`)).text()
  const tools = text.match(/^toolhive_mcp_tool_calls_total.*$/gm) ?? []
  expect(tools).toHaveLength(201)
  expect(tools.find(line => line.includes('_OTHER'))).toMatch(/ 11$/)
  expect(tools[0]).toContain(`tool="${'é'.repeat(64)}"`)
  expect(text).toContain('tool="db://user:[redacted]@host"')
  expect(text).not.toContain('hidden-one')
})

test('names that callers invent leave room for the tools of the server', async () => {
  let lists = 0
  const proxy = await telemetryProxy({
    target: await testServer(async (request, response) => {
      let text = ''
      for await (const part of request) text += part
      const { id, method, params } = JSON.parse(text || '{}')
      if (id === undefined) return void response.writeHead(request.method === 'GET' ? 405 : 202).end()
      if (method === 'tools/list') lists++
      const results: Record<string, object> = {
        initialize: {
          protocolVersion: '2025-11-25',
          capabilities: {},
          serverInfo: { name: 'n', version: '1' },
        },
        'tools/list': { tools: [{ name: 'late' }, { name: 'failing' }] },
        'tools/call': params?.name === 'late' ? {} : { isError: true, content: [] },
      }
      const result = results[method]
      const outcome = result ? { result } : { error: { code: -32601, message: 'Method not found' } }
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }))
    }),
    telemetry: { enablePrometheusMetricsPath: true, prometheusPort: await freePort() },
  })
  const names = Array.from({ length: 250 }, (_, index) => `invented-${index}`)
  for (const name of [...names, 'failing', 'late']) await call(proxy.origin, name)
  for (const method of names.slice(0, 3)) await (await post(`${proxy.origin}/mcp`, rpc(method, 1))).text()

  const scrape = async () => (await fetch(`${proxy.origin}/metrics`)).text()
  await expect
    .poll(async () => (await scrape()).match(/^toolhive_mcp_tool_calls_total.*$/gm)?.toSorted(), {
      timeout: 20_000,
    })
    .toEqual([
      'toolhive_mcp_tool_calls_total{server="test",tool="_OTHER",status="error"} 250',
      'toolhive_mcp_tool_calls_total{server="test",tool="failing",status="error"} 1',
      'toolhive_mcp_tool_calls_total{server="test",tool="late",status="success"} 1',
    ])
  expect(await scrape()).not.toContain('invented')
  expect(lists).toBe(1)
})

test('a collector that is down is logged once, also where it comes back, and keeps no call from the server', async () => {
  const collector = await startCollector()
  const logged: string[] = []
  const log = createLog({ write: line => logged.push(JSON.parse(line).msg), human: false, debug: false })
  const base = `http://${collector.endpoint}`
  const sender = createSender({ base, headers: {}, ca: undefined, log })
  sender.hurry()
  collector.respond(503)
  for (let n = 0; n < 2; n++)
    await expect(sender.send('/v1/traces', Buffer.alloc(0))).rejects.toThrow('it responds 503')
  expect(collector.requests).toHaveLength(6)
  collector.respond(200)
  await sender.send('/v1/traces', Buffer.alloc(0))
  collector.respond(400)
  await expect(sender.send('/v1/traces', Buffer.alloc(0))).rejects.toThrow('it responds 400')
  expect(collector.requests).toHaveLength(8)
  await sender.close()
  expect(logged).toEqual([
    `Telemetry cannot be sent to ${base}/v1/traces: it responds 503. It is lost until that works.`,
    `Telemetry is sent to ${base}/v1/traces again.`,
    `Telemetry cannot be sent to ${base}/v1/traces: it responds 400. It is lost until that works.`,
  ])

  const proxy = await telemetryProxy({ target: await server(), telemetry: { endpoint: '127.0.0.1:9' } })
  expect(await call(proxy.origin, 'echo')).toContain('"result":{}')
  await proxy.close()
  expect(proxy.logged.filter(line => line.includes('Telemetry'))).toHaveLength(2)
})

test('audit events are sent as OTLP logs, too, in the characters of the file, and not without an endpoint', async () => {
  const collector = await startCollector()
  const logFile = join(await temporaryFolder(), 'audit.jsonl')
  const audited = { config: { audit_config: { otlp: true, logFile } }, target: await server() }
  const proxy = await telemetryProxy({ ...audited, telemetry: { endpoint: collector.endpoint } })
  const name = 'a\u001b[31m\u0085\u009b2J\u202eevil\u2066\u2028é'
  await call(proxy.origin, name)
  await proxy.close()
  expect(collector.logs).toMatchObject([
    {
      event: 'audit_event',
      attributes: { 'audit.type': 'mcp_tool_call', 'audit.outcome': 'success', 'audit.component': 'test' },
    },
  ])
  const line = String(collector.logs[0]?.body)
  expect(line).not.toMatch(/[\p{Cc}\p{Zl}\u202a-\u202e\u2066-\u2069]/u)
  expect(JSON.parse(line).target.name).toBe(name)
  expect(readEvents(logFile)).toEqual([JSON.parse(line)])
  await expect(telemetryProxy({ ...audited, telemetry: {} })).rejects.toThrow('its telemetry has no endpoint')
})
