import { expect, test } from 'vitest'
import { createClientSync } from '../../../plugins/supervisor/sync-clients.ts'
import { type App, createApp } from '../../../src/app.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'
import type { Plugin } from '../../../src/plugin.ts'

function appWith(sync?: () => Promise<Error[]>): { app: App; logged: string[] } {
  const logged: string[] = []
  const plugin = { name: 'clients', services: { clients: () => ({ sync }) } } as unknown as Plugin
  const entries = sync ? [{ name: 'clients', services: ['clients'], load: async () => plugin }] : []
  const log = createLog({ write: line => logged.push(JSON.parse(line).msg), human: false, debug: false })
  return { app: createApp({ paths: findPaths({ HOME: '/nowhere' }), log, env: {}, entries }), logged }
}

test('a problem is logged once while it lasts, and again when it comes back', async () => {
  let problems = [new Error('cursor is broken')]
  const { app, logged } = appWith(async () => problems)
  const sync = createClientSync(app)
  await sync()
  await sync()
  expect(logged).toEqual(['cursor is broken'])
  problems = []
  await sync()
  problems = [new Error('cursor is broken')]
  await sync()
  expect(logged).toEqual(['cursor is broken', 'cursor is broken'])
})

test('what is thrown is logged too, and stops no workload', async () => {
  const { app, logged } = appWith(() => Promise.reject(new Error('locked')))
  await createClientSync(app)()
  expect(logged).toEqual(['locked'])
})

test('without the plugin of clients there is nothing to do', async () => {
  const { app, logged } = appWith()
  await createClientSync(app)()
  expect(logged).toEqual([])
})
