import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createWorkloadStore } from '../../../plugins/state/workload-store.ts'
import { createToolsOperation } from '../../../plugins/tools/edit/tools-operation.ts'
import { toolsSection } from '../../../plugins/tools/section.ts'
import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'

test('a change of what its caller has not seen is refused', async () => {
  const home = await mkdtemp(join(tmpdir(), 'keelson-test-'))
  onTestFinished(() => rm(home, { recursive: true }))
  const log = createLog({ write: () => undefined, human: false, debug: false })
  const store = createWorkloadStore({ paths: findPaths({ HOME: home }), log })
  const services = { workloadStore: store, toolControls: new Map() }
  const app = {
    contributions: async (kind: string) => (kind === 'sections' ? [toolsSection] : []),
    service: async (name: keyof typeof services) => services[name],
    log,
  } as unknown as App
  const before = {
    schema_version: 'v0.1.0',
    name: 'notes',
    transport: 'stdio',
    image: 'example.com/notes:1',
    port: 20_001,
  } as const satisfies RunConfig
  await store.configs.saveNew(before)
  const { handle } = await createToolsOperation(app)
  const change = (filter: string) =>
    handle({ name: 'notes', before, change: { reset: true, settings: { tools_filter: [filter] } } })

  const outcomes = await Promise.allSettled([change('one'), change('other')])
  expect(outcomes).toMatchObject([
    { status: 'fulfilled', value: { settings: { tools_filter: ['one'] } } },
    { status: 'rejected', reason: { code: 'workload_changed' } },
  ])
  expect(await store.configs.get('notes')).toEqual({ ...before, tools_filter: ['one'] })
})
