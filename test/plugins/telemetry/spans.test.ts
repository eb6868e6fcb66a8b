import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { toolsMiddleware } from '../../../plugins/tools/middleware.ts'
import type { MiddlewareFactory } from '../../../src/contracts/pipeline.ts'
import { findFreePort } from '../../../src/lib/ports.ts'
import { post, rpc, testServer } from '../proxy/test-proxy.ts'
import { type Collector, startCollector } from './collector.ts'
import { stdioServer, telemetryProxy } from './telemetry-proxy.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const parent = (flags = '01') => `00-${TRACE}-00f067aa0ba902b7-${flags}`

test('a call of a tool on a stdio server is one span, a count, and a part of the trace of its caller', async () => {
  const collector = await startCollector()
  const server = stdioServer()
  const proxy = await telemetryProxy({
    telemetry: { endpoint: collector.endpoint, headers: { 'x-team': 'a' } },
    config: { transport: 'stdio' },
  })
  await proxy.connect({ kind: 'stdio', attachment: server.attachment })
  const call = rpc('tools/call', 7, {
    name: 'echo',
    arguments: { text: 'hi', api_key: 'hunter2' },
    _meta: { traceparent: parent(), progressToken: 'p' },
  })
  const headers = { traceparent: parent('00').replace('4b', '5b'), baggage: 'user=a' }
  const response = await post(`${proxy.origin}/mcp`, call, headers)
  expect(await response.text()).toContain('"id":7,"result":{}')
  await proxy.close()

  expect(collector.spans).toHaveLength(1)
  const [span] = collector.spans
  expect(span).toMatchObject({
    name: 'tools/call echo',
    traceId: TRACE,
    parentId: '00f067aa0ba902b7',
    status: 1,
    resource: { 'service.name': 'thv-test' },
    attributes: {
      'mcp.method.name': 'tools/call',
      'gen_ai.tool.name': 'echo',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.call.arguments': 'text=hi, api_key=[REDACTED]',
      'jsonrpc.request.id': '7',
      'network.transport': 'pipe',
      'http.response.status_code': 200,
      'mcp.tool.name': 'echo',
      'http.status_code': 200,
    },
  })
  const line = server.lines.find(one => one.includes('tools/call')) ?? '{}'
  expect(JSON.parse(line).params._meta).toMatchObject({
    traceparent: `00-${TRACE}-${span?.spanId}-01`,
    baggage: 'user=a',
  })
  expect(collector.points('toolhive_mcp_tool_calls')).toMatchObject([
    { attributes: { server: 'test', tool: 'echo', status: 'success' }, value: 1 },
  ])
  expect(collector.requests.map(({ path }) => path).toSorted()).toEqual(['/v1/metrics', '/v1/traces'])
  expect(collector.requests.map(({ headers }) => headers['x-team'])).toEqual(['a', 'a'])
})

const OWN: Record<string, object> = {
  initialize: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'n', version: '1' } },
  'tools/list': { tools: ['fine', 'broken', 'down'].map(name => ({ name, inputSchema: {} })) },
}

/** Metrics that a test can look at before they are sent. */
const scraped = async () => ({ enablePrometheusMetricsPath: true, prometheusPort: await findFreePort() })

/** A failed call is counted once the server has listed its tools. */
const untilCounted = (origin: string, ...tools: string[]) =>
  expect
    .poll(async () => (await fetch(`${origin}/metrics`)).text())
    .toSatisfy((text: string) => tools.every(tool => text.includes(`tool="${tool}"`)))

const toolCalls = (collector: Collector) =>
  collector
    .points('toolhive_mcp_tool_calls')
    .map(({ attributes }) => [attributes.tool, attributes.status])
    .toSorted()

/** An HTTP server that responds as the tool is named, and keeps what it got. */
async function httpServer() {
  const seen: { headers: IncomingHttpHeaders; body: string }[] = []
  const target = await testServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    seen.push({ headers: request.headers, body })
    const { id, method, params } = JSON.parse(body || '{}')
    if (id === undefined) return void response.writeHead(request.method === 'GET' ? 405 : 202).end()
    const outcomes: Record<string, object> = {
      broken: { result: { isError: true, content: [] } },
      unknown: { error: { code: -32602, message: 'Unknown tool' } },
    }
    const status = params?.name === 'down' ? 500 : 200
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({ jsonrpc: '2.0', id, ...(outcomes[params?.name] ?? { result: OWN[method] ?? {} }) }),
    )
  })
  return { target, seen }
}

test('calls on an HTTP server are spans that say what became of them', async () => {
  const collector = await startCollector()
  const { target, seen } = await httpServer()
  const proxy = await telemetryProxy({
    target,
    env: { REGION: 'here', SECRET: 'hunter2' },
    telemetry: {
      endpoint: `http://${collector.endpoint}/otlp/`,
      useLegacyAttributes: false,
      environmentVariables: ['REGION', 'ABSENT'],
      customAttributes: { team: 'a' },
      serviceName: 'tools',
      ...(await scraped()),
    },
  })
  const call = (name: string, more: object = {}) =>
    post(`${proxy.origin}/mcp?token=hunter2`, rpc('tools/call', 1, { name, ...more }), {
      traceparent: parent(),
      tracestate: 'a=b',
    }).then(response => response.text())
  const meta = { _meta: { traceparent: 'no trace' } }
  await call('fine', meta)
  await call('broken', { _meta: { traceparent: parent('01') } })
  for (const name of ['unknown', 'down']) await call(name)
  await untilCounted(proxy.origin, 'broken', 'down')
  await proxy.close()

  const outcomes = collector.spans.map(({ name, status, attributes }) => [
    name,
    status,
    attributes['error.type'],
  ])
  expect(outcomes).toEqual([
    ['tools/call fine', 1, undefined],
    ['tools/call broken', 2, 'tool_error'],
    ['tools/call unknown', 2, '-32602'],
    ['tools/call down', 2, '500'],
  ])
  const [fine] = collector.spans
  expect(fine).toMatchObject({ traceId: TRACE, resource: { 'service.name': 'tools', team: 'a' } })
  expect(fine?.attributes).toMatchObject({
    'environment.REGION': 'here',
    'network.transport': 'tcp',
    'server.address': '127.0.0.1',
    'server.port': proxy.port,
  })
  expect(Object.keys(fine?.attributes ?? {})).not.toContain('http.method')
  expect(JSON.stringify(collector.spans)).not.toContain('hunter2')
  expect(seen[0]?.headers).toMatchObject({ traceparent: `00-${TRACE}-${fine?.spanId}-01`, tracestate: 'a=b' })
  expect(seen[0]?.body).toBe(rpc('tools/call', 1, { name: 'fine', ...meta }))
  const carried = { _meta: { traceparent: parent('01') } }
  expect(seen[1]?.body).toBe(
    rpc('tools/call', 1, { name: 'broken', ...carried }).replace(
      '00f067aa0ba902b7',
      String(collector.spans[1]?.spanId),
    ),
  )
  expect(collector.requests.map(({ path }) => path)).toContain('/otlp/v1/traces')

  expect(toolCalls(collector)).toEqual([
    ['_OTHER', 'error'],
    ['broken', 'error'],
    ['down', 'error'],
    ['fine', 'success'],
  ])
  const [duration] = collector.points('toolhive_mcp_request_duration')
  expect(duration).toMatchObject({
    unit: 's',
    bounds: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300],
    attributes: {
      method: 'POST',
      status_code: '200',
      status: 'success',
      mcp_method: 'tools/call',
      mcp_resource_id: 'fine',
      server: 'test',
      transport: 'streamable-http',
    },
  })
  expect(collector.points('mcp.server.operation.duration')).toHaveLength(4)
})

test('a request without a login, and a call of a hidden tool, have a span and are counted', async () => {
  const collector = await startCollector()
  const { target, seen } = await httpServer()
  const login: MiddlewareFactory = async () => ({
    name: 'login',
    stage: 'authenticate',
    wrap: next => exchange => {
      if (exchange.request.headers.authorization) return next(exchange)
      exchange.response.writeHead(401).end()
    },
  })
  const proxy = await telemetryProxy({
    target,
    telemetry: { endpoint: collector.endpoint, ...(await scraped()) },
    config: { tools_deny: ['broken'] },
    middlewares: [login, toolsMiddleware()],
  })
  const url = `${proxy.origin}/mcp`
  const call = (name: string, headers: Record<string, string>) =>
    post(url, rpc('tools/call', 1, { name }), headers).then(response => response.status)
  expect(await call('stranger', { traceparent: parent() })).toBe(401)
  const caller = { authorization: 'Bearer a', traceparent: parent() }
  expect([await call('broken', caller), await call('fine', caller)]).toEqual([200, 200])
  expect(seen.filter(({ body }) => body.includes('tools/call'))).toHaveLength(1)
  expect((await fetch(`${proxy.origin}/health`)).status).toBe(200)
  await untilCounted(proxy.origin, 'broken', 'fine')
  await proxy.close()

  const [refused, hidden, fine, ...others] = collector.spans
  expect(others).toEqual([])
  expect(refused).toMatchObject({
    name: 'POST',
    parentId: '',
    attributes: { 'http.response.status_code': 401 },
  })
  expect(refused?.traceId).not.toBe(TRACE)
  expect(JSON.stringify(refused)).not.toContain('stranger')
  expect(hidden).toMatchObject({
    name: 'tools/call broken',
    traceId: TRACE,
    status: 2,
    attributes: { 'error.type': '-32602', 'gen_ai.tool.name': 'broken' },
  })
  expect(fine).toMatchObject({ name: 'tools/call fine', status: 1 })
  const requests = collector.points('toolhive_mcp_requests')
  const counted = requests.map(({ attributes: a, value }) => [a.status_code, a.mcp_method, value])
  expect(counted.toSorted()).toEqual([
    ['200', 'tools/call', 1],
    ['200', 'tools/call', 1],
    ['401', '', 1],
  ])
  expect(toolCalls(collector)).toEqual([
    ['broken', 'error'],
    ['fine', 'success'],
  ])
})

test('traces are sampled as their callers decided, and else by the rate; metrics count all', async () => {
  const collector = await startCollector()
  const { target } = await httpServer()
  const proxy = await telemetryProxy({
    target,
    telemetry: { endpoint: collector.endpoint, samplingRate: '0' },
  })
  const call = async (name: string, headers: Record<string, string>) =>
    (await post(`${proxy.origin}/mcp`, rpc('tools/call', 1, { name }), headers)).text()
  await call('sampled', { traceparent: parent('01') })
  await call('not', { traceparent: parent('00') })
  await call('own', {})
  await proxy.close()
  expect(collector.spans.map(({ name }) => name)).toEqual(['tools/call sampled'])
  expect(collector.points('toolhive_mcp_requests')).toHaveLength(3)
})

test('bytes of streams are not held back, and the span of a GET ends when its stream begins', async () => {
  const collector = await startCollector()
  const streams: ServerResponse[] = []
  const target = await testServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    streams.push(response)
  })
  const proxy = await telemetryProxy({ target, telemetry: { endpoint: collector.endpoint } })
  const url = `${proxy.origin}/mcp`
  const headers = { accept: 'text/event-stream' }
  const streamed = [await fetch(url, { headers }), await post(url, rpc('tools/call', 1, { name: 'slow' }))]
  for (const [index, response] of streamed.entries()) {
    const reader = response.body?.getReader()
    for (const data of [
      'data: 1\n\n',
      'data: {"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"x"}}\n\n',
    ]) {
      streams[index]?.write(data)
      expect(Buffer.from((await reader?.read())?.value ?? '').toString()).toBe(data)
    }
    streams[index]?.end()
    expect((await reader?.read())?.done).toBe(true)
  }
  await proxy.close()
  expect(collector.spans.map(({ name, events, status }) => [name, events, status])).toEqual([
    ['GET /mcp', ['sse.connection_established'], 1],
    ['tools/call slow', [], 2],
  ])
  expect(collector.points('toolhive_mcp_active_connections').map(({ value }) => value)).toEqual([0, 0])
  expect(collector.points('toolhive_mcp_requests')).toMatchObject([{ attributes: { method: 'POST' } }])
})

test('what is no message passes, and is refused by whom it was refused before', async () => {
  const collector = await startCollector()
  const target = await testServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    response.end(Buffer.concat(parts))
  })
  const proxy = await telemetryProxy({ target, telemetry: { endpoint: collector.endpoint } })
  const bodies = ['{"a":1,"a":2}', 'no json', '{"jsonrpc":"2.0","id":1,"result":{}}', '\u00ff']
  for (const body of bodies) {
    const response = await post(`${proxy.origin}/mcp`, Buffer.from(body, 'latin1'))
    expect([response.status, Buffer.from(await response.arrayBuffer()).toString('latin1')]).toEqual([
      200,
      body,
    ])
  }
  await proxy.close()
  expect(collector.spans.map(({ name }) => name)).toEqual(bodies.map(() => 'POST /mcp'))
})
