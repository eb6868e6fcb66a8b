import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { failures } from '../../../plugins/proxy/failures.ts'
import { createWorkloadStore } from '../../../plugins/state/workload-store.ts'
import { createBringUp } from '../../../plugins/workloads/bring-up.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Supervisor, Workload } from '../../../src/contracts/workload.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'

const config: RunConfig = {
  schema_version: 'v0.1.0',
  name: 'fresh',
  transport: 'stdio',
  image: 'x',
  port: 20_001,
}

/** A supervisor on whose machine another program takes the first ports that are chosen. */
async function world({ busy }: { busy: number }) {
  const home = await mkdtemp(join(tmpdir(), 'keelson-test-'))
  onTestFinished(() => rm(home, { recursive: true }))
  const log = createLog({ write: () => undefined, human: false, debug: false })
  const store = createWorkloadStore({ paths: findPaths({ HOME: home }), log })
  const tried: (number | undefined)[] = []
  const removed: string[] = []
  const supervise: Partial<Supervisor> = {
    ensure: async () => undefined,
    async start(name) {
      const { port = 0 } = await store.configs.get(name)
      tried.push(port)
      if (tried.length <= busy) throw failures.port_busy({ host: '127.0.0.1', port })
    },
    async remove(name) {
      removed.push(name)
    },
  }
  const one = async (name: string) => (await store.configs.get(name)) as unknown as Workload
  const bringUp = createBringUp({
    store,
    supervisor: async () => supervise as Supervisor,
    one,
    conceal: async given => given,
    log,
  })
  return { bringUp, store, tried, removed }
}

test('a new workload gets another port when a program has taken the one that was chosen', async () => {
  const { bringUp, store, tried, removed } = await world({ busy: 2 })
  await bringUp.run(config, { portIsGiven: false })
  expect(tried).toHaveLength(3)
  expect(new Set(tried).size).toBe(3)
  expect((await store.configs.get('fresh')).port).toBe(tried[2])
  expect(removed).toEqual([])
})

test.each([
  ['the user asked for', { busy: 1, portIsGiven: true, tries: 1 }],
  ['keelson chose, five times in turn', { busy: 5, portIsGiven: false, tries: 5 }],
])(
  'a new workload on a taken port that %s fails, and nothing of it is left',
  async (_, { busy, portIsGiven, tries }) => {
    const { bringUp, tried, removed } = await world({ busy })
    await expect(bringUp.run(config, { portIsGiven })).rejects.toMatchObject({ code: 'port_busy' })
    expect(tried).toHaveLength(tries)
    expect(removed).toEqual(['fresh'])
  },
)
