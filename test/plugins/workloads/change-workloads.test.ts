import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createWorkloadStore } from '../../../plugins/state/workload-store.ts'
import { createBringUp } from '../../../plugins/workloads/bring-up.ts'
import { createChanges } from '../../../plugins/workloads/change/change-workloads.ts'
import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Supervisor, Workload } from '../../../src/contracts/workload.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'

const TOKEN = 'kept,target=bearer_token'

const withToken = (config: RunConfig, bearer_token: string): RunConfig => ({
  ...config,
  remote_auth_config: { bearer_token },
})

const notes: RunConfig = {
  schema_version: 'v0.1.0',
  name: 'notes',
  transport: 'streamable-http',
  remote_url: 'https://example.com/mcp',
  port: 20_001,
}

/** A workload `notes` that runs with the token `old`, kept in a vault. `faults`: what the supervisor fails at. */
async function world(faults: Partial<Supervisor> = {}) {
  const home = await mkdtemp(join(tmpdir(), 'keelson-test-'))
  onTestFinished(() => rm(home, { recursive: true }))
  const log = createLog({ write: () => undefined, human: false, debug: false })
  const store = createWorkloadStore({ paths: findPaths({ HOME: home }), log })
  const vault = new Map([['notes', 'old']])
  const conceal = async (config: RunConfig) => {
    const token = config.remote_auth_config?.bearer_token
    if (token === undefined || token === TOKEN) return config
    vault.set(config.name, token)
    return withToken(config, TOKEN)
  }
  const reveal = async (config: RunConfig) => withToken(config, vault.get(config.name) ?? '')
  const app = {
    contributions: async (kind: string) => (kind === 'preparations' ? [() => ({ conceal, reveal })] : []),
    log,
  } as unknown as App
  const running = new Set(['notes'])
  const supervise: Partial<Supervisor> = {
    ensure: async () => undefined,
    async stop(name) {
      running.delete(name)
    },
    async start(name) {
      await faults.start?.(name)
      running.add(name)
    },
    async restart(name, { onSent } = {}) {
      onSent?.()
      await store.configs.settled(name)
      running.delete(name)
      await faults.start?.(name)
      running.add(name)
    },
    async remove(name) {
      await faults.remove?.(name)
      running.delete(name)
      await store.configs.remove(name)
    },
  }
  const supervisor = async () => supervise as Supervisor
  const one = async (name: string) => (await store.configs.get(name)) as unknown as Workload
  const before = withToken(notes, TOKEN)
  await store.configs.saveNew(before)
  await store.statuses.write('notes', { status: 'running', process_id: process.pid })
  const { replace } = createBringUp({ store, supervisor, one, conceal, log })
  return {
    before,
    running,
    store,
    vault,
    changes: createChanges({ app, store, supervisor, replace, conceal }),
  }
}

const refusing = (refused: string) => async (name: string) => {
  if (name === refused) throw new Error(`${name} is refused`)
}

test('an edit that does not start gives back the secret that it replaced', async () => {
  let starts = 0
  const { before, changes, running, store, vault } = await world({
    async start() {
      starts += 1
      if (starts === 1) throw new Error('it does not start')
    },
  })
  const edit = changes.edit(before, withToken({ ...notes, stateless: true }, 'new'))
  await expect(edit).rejects.toMatchObject({ code: 'edit_failed', message: /runs as before/ })
  expect(vault.get('notes')).toBe('old')
  expect(await store.configs.get('notes')).toEqual(before)
  expect(running).toEqual(new Set(['notes']))
})

test.each(['running', 'stopped'] as const)(
  'an edit of a %s workload that another one has overtaken replaces no secret',
  async status => {
    const { before, changes, store, vault } = await world()
    await store.statuses.write('notes', { status, process_id: process.pid })
    await store.configs.saveOver(before, { ...before, stateless: true })
    const edit = changes.edit(before, withToken(notes, 'new'))
    await expect(edit).rejects.toMatchObject({ code: 'workload_changed' })
    expect(vault.get('notes')).toBe('old')
  },
)

test('an edit that does not start leaves what another one has saved meanwhile', async () => {
  const { before, changes, store } = await world({
    async start() {
      const edited = await store.configs.get('notes')
      await store.configs.saveOver(edited, { ...edited, group: 'theirs' })
      throw new Error('it does not start')
    },
  })
  const edit = changes.edit(before, { ...before, stateless: true })
  await expect(edit).rejects.toMatchObject({ code: 'edit_failed', message: /changed or removed meanwhile/ })
  expect(await store.configs.get('notes')).toMatchObject({ group: 'theirs', stateless: true })
})

test('a rename that cannot save the new name stops nothing', async () => {
  const { changes, running, store } = await world()
  store.configs.saveNew = async () => {
    throw new Error('the disk is full')
  }
  await expect(changes.rename('notes', 'papers')).rejects.toThrow('the disk is full')
  expect(running).toEqual(new Set(['notes']))
})

test('a rename that can neither start nor remove the new name starts the old one', async () => {
  const { changes, running } = await world({ start: refusing('papers'), remove: refusing('papers') })
  const rename = changes.rename('notes', 'papers')
  await expect(rename).rejects.toMatchObject({ code: 'edit_failed', message: /papers is refused/ })
  expect(running).toEqual(new Set(['notes']))
})

test('a rename after one that was killed finishes it', async () => {
  let kills = 1
  const { changes, running, store } = await world({
    async remove() {
      if (kills-- > 0) throw new Error('killed')
    },
  })
  await expect(changes.rename('notes', 'papers')).rejects.toThrow('killed')
  await store.statuses.write('papers', { status: 'running', process_id: process.pid })
  await store.statuses.write('notes', { status: 'stopped', process_id: process.pid })
  await changes.rename('notes', 'papers')
  expect(running).toEqual(new Set(['papers']))
  expect((await store.configs.list()).map(({ name }) => name)).toEqual(['papers'])
})

test('a clone says how to finish or undo a rename that was killed', async () => {
  const { before, changes, store } = await world({ remove: refusing('notes') })
  await expect(changes.rename('notes', 'papers')).rejects.toThrow('notes is refused')
  await expect(changes.cloneConfig('notes', 'papers')).rejects.toMatchObject({
    code: 'rename_unfinished',
    hint: expect.stringContaining('Finish it with `keelson rename notes papers`'),
  })
  await store.configs.saveOver(before, { ...before, stateless: true })
  await expect(changes.rename('notes', 'papers')).rejects.toMatchObject({ code: 'workload_exists' })
})

test('a rename whose new name is taken meanwhile leaves the secret of that workload', async () => {
  const { changes, store, vault } = await world()
  const { saveNew } = store.configs
  store.configs.saveNew = async (config, toSaved) => {
    vault.set('papers', 'theirs')
    await saveNew({ ...notes, name: 'papers', port: 20_002 })
    return saveNew(config, toSaved)
  }
  await expect(changes.rename('notes', 'papers')).rejects.toMatchObject({ code: 'workload_exists' })
  expect(vault.get('papers')).toBe('theirs')
})
