import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { needsPlace } from '../../e2e/places-to-run.ts'
import { type ApiServer, startApi } from '../../support/api-server.ts'
import { freePort } from '../../support/free-port.ts'
import { listen } from '../../support/listen.ts'

const path = '/api/v1beta/workloads'

interface Health {
  readonly name: string
  readonly status: string
  readonly status_context?: string
}

/** A server that treats every request alike. */
async function remote(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

/** What each place that shows the health of a workload says of it now. The page shows what the events say. */
async function saidOf(api: ApiServer, name: string): Promise<Record<string, string>> {
  const shown = async (...args: string[]) => JSON.parse((await api.user.run(args)).stdout)
  const events = await listen(`${api.url}/api/v1beta/events`)
  const seen = await events.until('event: listed')
  events.leave()
  const inEvents = [...seen.matchAll(/event: workload\ndata: (.*)/g)].map(([, data = '']) => JSON.parse(data))
  const inApi = (await api.ask('GET', `${path}?all=true`)).json() as { workloads: Health[] }
  const one = (of: readonly Health[]) => toText(of.find(workload => workload.name === name))
  return {
    list: one(await shown('list', '--all', '--format', 'json')),
    status: toText(await shown('status', name, '--format', 'json')),
    'API list': one(inApi.workloads),
    'API status': toText((await api.ask('GET', `${path}/${name}/status`)).json()),
    events: one(inEvents),
  }
}

const toText = (health: Health | undefined): string => `${health?.status}: ${health?.status_context ?? ''}`

/** Waits until all places say the same, and that is what is expected. */
async function untilAllSay(api: ApiServer, name: string, expected: RegExp): Promise<void> {
  const different = async () => [...new Set(Object.values(await saidOf(api, name)))]
  await expect.poll(different, { timeout: 90_000, interval: 500 }).toEqual([expect.stringMatching(expected)])
}

test('list, status, the API, its events and so the page say the same of a remote server', async () => {
  const api = await startApi()
  const gone = await freePort()
  const remotes: readonly (readonly [name: string, url: string, expected: RegExp])[] = [
    ['broken', await remote((_, response) => response.writeHead(502).end()), /^unhealthy: .*502/s],
    ['silent', await remote(() => undefined), /^unhealthy: .*respond/],
    ['gone', `http://127.0.0.1:${gone}/mcp`, /^unhealthy: it does not accept connections$/],
    [
      'locked',
      await remote((_, response) => response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()),
      /^unauthenticated: ./s,
    ],
  ]
  for (const [name, url] of remotes)
    expect((await api.ask('POST', path, { name, url })).status, name).toBe(201)

  for (const [name, , expected] of remotes) await untilAllSay(api, name, expected)
}, 240_000)

test('they say the same of a server that hangs after it ran, and of one whose health path says 503', async () => {
  const api = await startApi()
  let hangs = false
  const url = await remote(async (request, response) => {
    if (hangs) return
    const { id } = JSON.parse((await text(request)) || '{}')
    if (id === undefined) return response.writeHead(202).end()
    const serverInfo = { name: 'tiny', version: '1' }
    const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  expect((await api.ask('POST', path, { name: 'hangs', url })).status).toBe(201)
  await api.untilStatus('hangs', 'running')
  hangs = true
  await untilAllSay(api, 'hangs', /^unhealthy: .*respond/)
  const { workloads } = (await api.ask('GET', path)).json() as { workloads: { url: string }[] }
  const { status } = await fetch(new URL('/health', workloads[0]?.url))
  expect(status).toBe(503)
  hangs = false
  await untilAllSay(api, 'hangs', /^running: $/)
}, 240_000)

test('they say the same of a server that crashes, with its last lines', async context => {
  needsPlace(context, 'docker')
  const api = await startApi()
  const name = `crash-${process.pid}`
  onTestFinished(async () => {
    await api.ask('DELETE', `${path}/${name}`)
    await expect
      .poll(async () => (await api.ask('GET', `${path}/${name}`)).status, { timeout: 60_000 })
      .toBe(404)
  })
  const script = 'console.error("TOKEN is not set"); process.exit(3)'
  const body = { name, image: 'keelson-test/node:24', cmd_arguments: ['node', '-e', script] }
  expect((await api.ask('POST', path, body)).status).toBe(201)

  await untilAllSay(api, name, /^error: .*TOKEN is not set/s)
}, 240_000)
