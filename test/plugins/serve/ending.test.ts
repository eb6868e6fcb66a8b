import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, type TestContext, test } from 'vitest'
import { needsPlace } from '../../e2e/places-to-run.ts'
import { type ApiServer, startApi } from '../../support/api-server.ts'
import { listen } from '../../support/listen.ts'
import { startTinyMcp } from '../../support/tiny-mcp.ts'

const path = '/api/v1beta/workloads'
const IMAGE = 'keelson-test/node:24'
/** Less than the time for requests under way (30 s), and much for a machine that does other things. */
const MOST_MS = 20_000

/** A server that takes requests and never responds; `asked` resolves with the first. */
async function hanging(): Promise<{ port: number; asked: Promise<unknown> }> {
  const server = createServer(() => undefined).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, asked: once(server, 'request') }
}

/** A workload of a script in docker, which is removed with the test. */
async function makeScript(api: ApiServer, name: string, script: string): Promise<void> {
  onTestFinished(async () => {
    await api.user.run(['rm', name])
  })
  const image = { image: IMAGE, cmd_arguments: ['node', '-e', script], transport: 'streamable-http' }
  expect((await api.ask('POST', path, { name, ...image, target_port: 8080 })).status).toBe(201)
}

const untilStarting = (api: ApiServer, name: string) =>
  expect
    .poll(async () => (await api.ask('GET', `${path}/${name}/status`)).text, { timeout: 30_000 })
    .toMatch(/"(starting|unhealthy)"/)

const CASES: Readonly<Record<string, (api: ApiServer, context: TestContext) => Promise<void>>> = {
  'after somebody has read the events': async api => {
    const events = await listen(`${api.url}/api/v1beta/events`)
    await events.until('event: listed')
    events.leave()
  },
  'while somebody reads the events': async api => {
    const events = await listen(`${api.url}/api/v1beta/events`)
    await events.until('event: listed')
  },
  'while somebody follows the log of a proxy': async api => {
    await api.ask('POST', path, { name: 'a', url: await startTinyMcp() })
    await api.untilStatus('a', 'running')
    const log = await listen(`${api.url}${path}/a/proxy-logs/stream`)
    await log.until('data: ')
  },
  'while somebody follows the log of a server': async (api, context) => {
    needsPlace(context, 'docker')
    const name = `log-${process.pid}`
    await makeScript(api, name, 'console.log("up"); setInterval(() => {}, 1000)')
    await expect
      .poll(async () => (await api.ask('GET', `${path}/${name}/logs`)).text, { timeout: 30_000 })
      .toContain('up')
    const log = await listen(`${api.url}${path}/${name}/logs/stream`)
    await log.until('up')
  },
  'while a remote server is waited for': async api => {
    const { port, asked } = await hanging()
    await api.ask('POST', path, { name: 'slow', url: `http://127.0.0.1:${port}/mcp` })
    await asked
  },
  'while a local server is waited for': async (api, context) => {
    needsPlace(context, 'docker')
    const name = `wait-${process.pid}`
    await makeScript(api, name, 'setInterval(() => {}, 1000)')
    await untilStarting(api, name)
  },
}

for (const [what, prepare] of Object.entries(CASES)) {
  test(`serve ends soon ${what}`, { timeout: 120_000 }, async context => {
    const api = await startApi()
    await prepare(api, context)
    const start = performance.now()
    expect(await api.stop()).toBe(143)
    const took = performance.now() - start
    expect(took, `${took} ms`).toBeLessThan(MOST_MS)
  })
}
