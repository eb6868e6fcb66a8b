import { expect, test } from 'vitest'
import { createApp } from '../../src/app.ts'
import { createLog } from '../../src/log.ts'
import { findPaths } from '../../src/paths.ts'
import type { Plugin, PluginEntry } from '../../src/plugin.ts'

const log = createLog({ write: () => {}, human: false, debug: false })
const appWith = (entries: readonly PluginEntry[]) =>
  createApp({ paths: findPaths({ HOME: '/nowhere' }), log, env: {}, entries })

test('a service that no plugin offers is undefined where it is optional, and a failure where it is required', async () => {
  const app = appWith([])

  expect(await app.find('groups')).toBeUndefined()
  await expect(app.service('groups')).rejects.toMatchObject({ code: 'service_missing' })
})

test('an optional service that is there is the same as the required one', async () => {
  const plugin = { name: 'groups', services: { groups: () => ({}) } } as unknown as Plugin
  const app = appWith([{ name: 'groups', services: ['groups'], load: async () => plugin }])

  expect(await app.find('groups')).toBe(await app.service('groups'))
})
