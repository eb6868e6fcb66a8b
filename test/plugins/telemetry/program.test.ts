import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startApi } from '../../support/api-server.ts'
import type { KeelsonUser } from '../../support/keelson.ts'
import { testHome } from '../auth-out/guarded-server.ts'
import { post, rpc, testServer, until } from '../proxy/test-proxy.ts'
import { startCollector } from './collector.ts'

const WORKLOADS = '/api/v1beta/workloads'

const server = () =>
  testServer(async (request, response) => {
    let text = ''
    for await (const part of request) text += part
    const { id } = JSON.parse(text || '{}')
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
  })

const call = async (url: string) =>
  (await post(url.trim(), rpc('tools/call', 1, { name: 'echo' }), { authorization: 'x' })).text()

test('what flags and settings say is sent, exported without its secrets, and has to be confirmed from a file', {
  timeout: 120_000,
}, async () => {
  const [collector, other] = [await startCollector(), await startCollector()]
  const home = await testHome()
  home.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://${other.endpoint}`
  const target = await server()
  await home.ok(['config', 'otel', 'set-endpoint', collector.endpoint])
  const settings = join(home.path, '.config/keelson/config.json')
  const otel = { endpoint: collector.endpoint, insecure: true, 'sampling-rate': 0, 'env-vars': ['REGION'] }
  expect(JSON.parse(await readFile(settings, 'utf8')).otel).toEqual({ endpoint: collector.endpoint })
  await writeFile(settings, JSON.stringify({ ...JSON.parse(await readFile(settings, 'utf8')), otel }))
  home.env.REGION = 'here'
  await writeFile(join(home.path, 'headers'), 'authorization=Bearer hunter2\nx-team=a\n', { mode: 0o600 })
  const headersFile = join(home.path, 'headers')
  const flags = [
    '--otel-sampling-rate',
    '1',
    '--otel-headers-file',
    headersFile,
    '--otel-headers',
    'x-team=b',
  ]
  const shown = await home.ok(['run', target, '--name', 'a', ...flags])
  const supervisor = await readFile(`/proc/${await home.supervisor()}/cmdline`, 'utf8')
  expect(supervisor).not.toContain('x-team')
  expect(await call(shown)).toContain('"result":{}')
  await home.ok(['stop', 'a'])
  await until(() => collector.spans.length > 0)
  expect(collector.spans[0]).toMatchObject({
    name: 'tools/call echo',
    resource: { 'service.name': 'thv-a' },
    attributes: { 'environment.REGION': 'here' },
  })
  expect(collector.requests[0]?.headers).toMatchObject({ authorization: 'Bearer hunter2', 'x-team': 'b' })
  expect(other.requests).toEqual([])

  const path = join(home.path, 'a.json')
  await home.ok(['export', 'a', path])
  const text = await readFile(path, 'utf8')
  expect(text).not.toContain('hunter2')
  const config = JSON.parse(text)
  expect(config.telemetry_config).toMatchObject({
    endpoint: collector.endpoint,
    insecure: true,
    samplingRate: '1',
    environmentVariables: ['REGION'],
    headers: {
      authorization: expect.stringMatching(/,target=otel_header$/),
      'x-team': expect.stringMatching(/,target=otel_header$/),
    },
  })

  const named = { ...config, name: 'bb', container_name: 'bb', port: 0 }
  await writeFile(path, JSON.stringify(named))
  const confirm = ['--otel-endpoint', collector.endpoint]
  for (const args of [[], confirm]) {
    const refused = await home.keelson(['run', '--from-config', path, ...args])
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('wants telemetry')])
  }
  const { headers: _, ...telemetry_config } = config.telemetry_config
  await writeFile(path, JSON.stringify({ ...named, telemetry_config }))
  await home.ok(['run', '--from-config', path, ...confirm, '--otel-env-vars', 'REGION', '--otel-insecure'])
  const nothing = ['--otel-tracing-enabled=false', '--otel-metrics-enabled=false']
  const off = await home.keelson(['run', target, '--name', 'c', ...nothing])
  expect([off.code, off.stderr]).toEqual([2, expect.stringContaining('neither traces nor metrics')])

  const user: KeelsonUser = {
    ...{ home: home.path, env: home.env },
    run: (args, options) => home.keelson(args, options) as never,
  }
  const api = await startApi({ user })
  const body = { name: 'd', url: target, telemetry_config: { serviceName: 'over-http' } }
  const made = await api.ask('POST', WORKLOADS, body)
  expect([made.status, made.text]).toEqual([201, expect.any(String)])
  await api.untilStatus('d', 'running')
  const details: Record<string, unknown> = (await api.ask('GET', `${WORKLOADS}/d`)).json()
  expect(details.telemetry_config).toMatchObject({ endpoint: collector.endpoint, serviceName: 'over-http' })
  for (const member of [{ environmentVariables: ['HOME'] }, { caCertPath: '/etc/ssl/cert.pem' }]) {
    const edit = { ...details, telemetry_config: { endpoint: other.endpoint, ...member } }
    expect((await api.ask('POST', `${WORKLOADS}/d/edit`, edit)).status).toBe(400)
  }
})

test('headers of the environment are sent to the endpoint, percent-decoded, and kept as secrets', {
  timeout: 120_000,
}, async () => {
  const collector = await startCollector()
  const home = await testHome()
  const target = await server()
  const flags = ['--otel-endpoint', collector.endpoint, '--otel-insecure', '--otel-sampling-rate', '1']
  home.env.OTEL_EXPORTER_OTLP_HEADERS =
    'Authorization=Basic%20aHVudGVyMg==, x-list=a%2Cb%3D%C3%A9 ,X-Team=env,'
  const url = await home.ok(['run', target, '--name', 'a', ...flags, '--otel-headers', 'x-team=flag'])
  await call(url)
  await home.ok(['stop', 'a'])
  await until(() => collector.spans.length > 0)
  const { headers } = collector.requests[0] ?? {}
  expect(headers).toMatchObject({ authorization: 'Basic aHVudGVyMg==', 'x-team': 'flag' })
  expect(headers?.['x-list']).toBe('a,b=é')
  const stored = await readFile(join(home.path, '.local/state/keelson/runconfigs/a.json'), 'utf8')
  expect(stored).not.toContain('aHVudGVyMg')
  const reference = expect.stringMatching(/,target=otel_header$/)
  expect(JSON.parse(stored).telemetry_config.headers).toEqual({
    Authorization: reference,
    'x-list': reference,
    'x-team': reference,
  })

  home.env.OTEL_EXPORTER_OTLP_HEADERS = 'authorization=%zz-hunter2'
  const wrong = await home.keelson(['run', target, '--name', 'b', ...flags])
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('OTEL_EXPORTER_OTLP_HEADERS')])
  expect(wrong.stderr).not.toContain('hunter2')
  await home.ok(['run', target, '--name', 'b']) // no endpoint, so nothing is read

  // The environment of the HTTP API is not that of who asks.
  home.env.OTEL_EXPORTER_OTLP_HEADERS = 'authorization=hunter2'
  const user: KeelsonUser = {
    ...{ home: home.path, env: home.env },
    run: (args, options) => home.keelson(args, options) as never,
  }
  const api = await startApi({ user })
  const body = { name: 'd', url: target, telemetry_config: { endpoint: collector.endpoint, insecure: true } }
  expect((await api.ask('POST', WORKLOADS, body)).status).toBe(201)
  const config = await readFile(join(home.path, '.local/state/keelson/runconfigs/d.json'), 'utf8')
  expect(JSON.parse(config).telemetry_config.headers).toBeUndefined()
})
