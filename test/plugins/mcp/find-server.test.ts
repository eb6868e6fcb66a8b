import { expect, test } from 'vitest'
import { findServer } from '../../../plugins/mcp/find-server.ts'
import { createApp } from '../../../src/app.ts'
import type { Workload } from '../../../src/contracts/workload.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'
import { CALLERS } from '../../support/callers-entries.ts'

const running: Workload = {
  name: 'weather',
  package: 'npx://weather',
  url: 'http://127.0.0.1:4711/sse#weather',
  port: 4711,
  transport_type: 'stdio',
  proxy_mode: 'sse',
  status: 'running',
  created_at: '2026-01-01T00:00:00Z',
}

/** A host whose workloads are this one. */
const appWith = (workload: Workload) => {
  const workloads = { get: async () => workload } as never
  const load = async () => ({ name: 'workloads', services: { workloads: () => workloads } })
  const log = createLog({ write: () => undefined, human: false, debug: false })
  const entries = [{ name: 'workloads', services: ['workloads'], load }, ...CALLERS]
  return createApp({ paths: findPaths({ HOME: '/nowhere' }), log, env: {}, entries })
}

test('a running workload is called with the transport of its proxy', async () => {
  const { url, transport } = await findServer(appWith(running), 'weather', 'auto')

  expect({ url: url.href, transport }).toEqual({ url: running.url, transport: 'sse' })
})

test('--transport wins over what the workload says', async () => {
  const { transport } = await findServer(appWith(running), 'weather', 'streamable-http')

  expect(transport).toBe('streamable-http')
})

test('a workload that is not running is named, with its status and what to do', async () => {
  const found = findServer(appWith({ ...running, status: 'stopped' }), 'weather', 'auto')

  await expect(found).rejects.toMatchObject({
    code: 'mcp_server_stopped',
    message: 'The workload "weather" is not running: it is stopped.',
    hint: expect.stringContaining('keelson start weather'),
  })
})
