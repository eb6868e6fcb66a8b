import { expect, test } from 'vitest'
import { createPrune } from '../../../plugins/prune/service.ts'
import type { Runtime } from '../../../src/contracts/runtime.ts'
import { runtimeFailures } from '../../../src/contracts/runtime-failures.ts'
import { createLog } from '../../../src/log.ts'

type Options = Parameters<typeof createPrune>[0]

/** A runtime with two packages. What uses them is changed by the test. */
function world() {
  const state = {
    configs: [] as { image: string }[],
    problems: new Map<string, string>(),
    instances: [] as { image: string }[],
    installed: async () => ['npx://a@1.0.0', 'npx://b@1.0.0'].map(name => ({ name, bytes: 1 })),
  }
  const removed: string[] = []
  const lines: string[] = []
  const runtime = {
    name: 'process',
    packages: { installed: () => state.installed(), remove: async (name: string) => void removed.push(name) },
    list: async () => state.instances,
  } as unknown as Runtime
  const store = {
    configs: { list: async () => state.configs, problems: async () => state.problems },
    upgrades: { names: async () => [], find: async () => undefined },
  } as unknown as Options['store']
  const prune = createPrune({
    store,
    runtimes: { all: async () => [runtime], get: async () => runtime },
    workloads: { findStaleLogs: async () => [], pruneLogs: async () => [] },
    log: createLog({ write: line => void lines.push(line), human: false, debug: false }),
  })
  return { state, removed, lines, prune }
}

const A = { image: 'npx://a@1.0.0' }

test('what an instance uses is not found', async () => {
  const { state, prune } = world()
  state.instances = [A]
  expect((await prune.find()).map(({ name }) => name)).toEqual(['npx://b@1.0.0'])
})

test.each(['configs', 'instances'] as const)('what %s use since the question stays', async kind => {
  const { state, removed, lines, prune } = world()
  const found = await prune.find()
  expect(found).toHaveLength(2)
  state[kind] = [A]
  expect((await prune.remove(found)).map(({ name }) => name)).toEqual(['npx://b@1.0.0'])
  expect(removed).toEqual(['npx://b@1.0.0'])
  expect(lines.join()).toContain('npx://a@1.0.0 stays: a workload uses it.')
})

test('all packages stay once a run config cannot be read', async () => {
  const { state, removed, lines, prune } = world()
  const found = await prune.find()
  state.problems = new Map([['broken', 'it is no JSON']])
  expect(await prune.remove(found)).toEqual([])
  expect(removed).toEqual([])
  expect(lines.join()).toContain('what a run config uses cannot be read')
})

test('a runtime that does not respond is left out, other failures are told, and bugs are not hidden', async () => {
  const { state, lines, prune } = world()
  state.installed = async () => {
    throw runtimeFailures.runtime_unavailable({ runtime: 'process', problem: 'away', hint: '' })
  }
  expect(await prune.find()).toEqual([])
  expect(lines).toEqual([])
  state.installed = async () => {
    throw runtimeFailures.runtime_failed({ runtime: 'process', doing: 'list', problem: 'odd' })
  }
  expect(await prune.find()).toEqual([])
  expect(lines.join()).toContain('process is left out')
  state.installed = async () => {
    throw new TypeError('a bug')
  }
  await expect(prune.find()).rejects.toThrow('a bug')
})
