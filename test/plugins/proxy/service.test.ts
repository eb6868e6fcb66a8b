import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import proxyPlugin from '../../../plugins/proxy/index.ts'
import { createApp } from '../../../src/app.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'
import type { PluginEntry } from '../../../src/plugin.ts'
import { CALLERS } from '../../support/callers-entries.ts'
import { post, rawServer, rpc, testServer } from './test-proxy.ts'

const config = { schema_version: 'v0.1.0', name: 'w', transport: 'streamable-http', port: 0 } as const

/** The service as the program makes it, with a middleware of another plugin. */
async function proxies(env: Record<string, string> = {}) {
  const home = await mkdtemp(join(tmpdir(), 'keelson-test-'))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  const marking: PluginEntry = {
    name: 'marking',
    provides: ['middlewares'],
    load: async () => ({
      name: 'marking',
      provides: {
        middlewares: [
          () => async () => ({
            name: 'mark',
            stage: 'audit',
            wrap: next => exchange => {
              exchange.response.setHeader('x-marked', 'yes')
              return next(exchange)
            },
          }),
        ],
      },
    }),
  }
  const app = createApp({
    paths: findPaths({ HOME: home }),
    log: createLog({ write: () => {}, human: false, debug: false }),
    env,
    entries: [{ name: 'proxy', services: ['proxies'], load: async () => proxyPlugin }, ...CALLERS, marking],
  })
  return app.service('proxies')
}

test('a proxy of the service passes requests through the middlewares that plugins contribute', async () => {
  const proxy = await (await proxies()).open(config)
  onTestFinished(() => proxy.close())
  const target = await testServer((_request, response) => response.writeHead(200, ['X-Own', '1']).end('{}'))
  await proxy.connect({ kind: 'http', target: new URL(target), remote: false })
  const answer = await post(proxy.url, rpc('ping', 1))
  expect(answer.headers.get('x-marked')).toBe('yes')
  expect(answer.headers.get('x-own')).toBe('1')
})

test('KEELSON_PROXY_REQUEST_TIMEOUT bounds how long a server may take to begin', async () => {
  const proxy = await (await proxies({ KEELSON_PROXY_REQUEST_TIMEOUT: '300ms' })).open(config)
  onTestFinished(() => proxy.close())
  await proxy.connect({ kind: 'http', target: new URL(await rawServer(() => {})), remote: false })
  expect((await post(proxy.url, rpc('ping', 1))).status).toBe(504)
})

test('after closing, the port can be opened again', async () => {
  const service = await proxies()
  const first = await service.open(config)
  await first.close()
  const second = await service.open({ ...config, port: first.port })
  expect(second.port).toBe(first.port)
  await second.close()
})
