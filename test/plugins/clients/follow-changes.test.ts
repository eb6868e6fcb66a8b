import { expect, test } from 'vitest'
import { followChanges } from '../../../plugins/clients/follow-changes.ts'
import { type App, createApp } from '../../../src/app.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'
import type { Plugin } from '../../../src/plugin.ts'

/** An app whose clients are synchronised by `sync`. */
function appWith(sync: () => Promise<Error[]>): { app: App; logged: string[] } {
  const logged: string[] = []
  const plugin = {
    name: 'clients',
    services: { clients: () => ({ sync }) },
    provides: { hooks: [followChanges] },
  } as unknown as Plugin
  const entry = {
    name: 'clients',
    services: ['clients'],
    provides: ['hooks'] as const,
    load: async () => plugin,
  }
  const log = createLog({ write: line => logged.push(JSON.parse(line).msg), human: false, debug: false })
  return {
    app: createApp({ paths: findPaths({ HOME: '/nowhere' }), log, env: {}, entries: [entry] }),
    logged,
  }
}

test('a problem is logged once while it lasts, and again when it comes back', async () => {
  let problems = [new Error('cursor is broken')]
  const { app, logged } = appWith(async () => problems)
  await app.notify('workloadsChanged')
  await app.notify('workloadsChanged')
  expect(logged).toEqual(['cursor is broken'])
  problems = []
  await app.notify('workloadsChanged')
  problems = [new Error('cursor is broken')]
  await app.notify('workloadsChanged')
  expect(logged).toEqual(['cursor is broken', 'cursor is broken'])
})

test.each(['workloadsChanged', 'groupRemoved', 'callerTokenChanged'] as const)(
  'an error after %s is logged and does not stop the host',
  async hook => {
    const { app, logged } = appWith(() => Promise.reject(new Error('locked')))
    await app.notify(hook, ...((hook === 'groupRemoved' ? ['work'] : []) as [string]))
    expect(logged).toEqual(['locked'])
  },
)
