import { expect, test } from 'vitest'
import { createApp } from '../../src/app.ts'
import type { Hooks } from '../../src/contracts/hooks.ts'
import { createLog } from '../../src/log.ts'
import { findPaths } from '../../src/paths.ts'
import type { PluginEntry } from '../../src/plugin.ts'

/** An app with one plugin for each set of listeners. */
function appWith(...listeners: readonly (() => Hooks)[]) {
  const logged: string[] = []
  const log = createLog({ write: line => logged.push(JSON.parse(line).msg), human: false, debug: false })
  const entries = listeners.map((make, i): PluginEntry => {
    const name = `plugin-${i}`
    return { name, provides: ['hooks'], load: async () => ({ name, provides: { hooks: [make] } }) }
  })
  return { app: createApp({ paths: findPaths({ HOME: '/nowhere' }), log, env: {}, entries }), logged }
}

test('a notification reaches every plugin that listens to it, and waits for all of them', async () => {
  const heard: string[] = []
  const { app } = appWith(
    () => ({ groupRemoved: async group => void heard.push(`one: ${group}`) }),
    () => ({ workloadsChanged: async () => void heard.push('never') }),
    () => ({
      async groupRemoved(group) {
        await new Promise(setImmediate)
        heard.push(`slow: ${group}`)
      },
    }),
  )

  await app.notify('groupRemoved', 'work')

  expect(heard).toEqual(['one: work', 'slow: work'])
})

test('a listener that fails costs a warning; the others are still called', async () => {
  const heard: string[] = []
  const { app, logged } = appWith(
    () => ({ workloadsChanged: () => Promise.reject(new Error('broken')) }),
    () => ({
      workloadsChanged() {
        throw new Error('broken at once')
      },
    }),
    () => ({ workloadsChanged: async () => void heard.push('heard') }),
  )

  await app.notify('workloadsChanged')

  expect(heard).toEqual(['heard'])
  expect(logged.toSorted()).toEqual(['broken', 'broken at once'])
})

test('a listener is made once and remembers', async () => {
  const counts: number[] = []
  const { app } = appWith(() => {
    let count = 0
    return { workloadsChanged: async () => void counts.push(++count) }
  })

  await app.notify('workloadsChanged')
  await app.notify('workloadsChanged')

  expect(counts).toEqual([1, 2])
})

test('without listeners nothing happens', async () => {
  const { app, logged } = appWith()
  await app.notify('workloadsChanged')
  expect(logged).toEqual([])
})
