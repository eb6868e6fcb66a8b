import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createWorkloadStore, type WorkloadStore } from '../../../plugins/state/workload-store.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths, type Paths } from '../../../src/paths.ts'

let home: string
let paths: Paths
let store: WorkloadStore
let lines: string[]
let time: Date

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'ks-'))
  paths = findPaths({ HOME: home }, 'linux')
  lines = []
  time = new Date('2026-01-01T00:00:00Z')
  const log = createLog({ write: line => lines.push(line), human: true, debug: false })
  store = createWorkloadStore({ paths, log, now: () => time })
})
afterEach(() => rm(home, { recursive: true, force: true }))

const config = (name: string, more: Partial<RunConfig> = {}): RunConfig => ({
  schema_version: 'v0.1.0',
  name,
  image: 'example/echo:1',
  transport: 'stdio',
  port: 4321,
  ...more,
})
const folder = () => join(paths.state, 'runconfigs')
const put = async (file: string, text: string) => {
  await mkdir(folder(), { recursive: true })
  await writeFile(join(folder(), file), text)
}

describe('run configs', () => {
  test('a saved config is read back, with members nobody here knows', async () => {
    await store.configs.save({ ...config('echo'), of_tomorrow: { a: [1] } } as RunConfig)
    expect(await store.configs.get('echo')).toEqual({ ...config('echo'), of_tomorrow: { a: [1] } })
  })

  test('the file is private and indented by two spaces', async () => {
    await store.configs.save(config('echo'))
    const file = join(folder(), 'echo.json')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readFile(file, 'utf8')).toMatch(/^\{\n {2}"schema_version": "v0.1.0",\n/)
  })

  test('a missing workload is named', async () => {
    await expect(store.configs.get('nobody')).rejects.toMatchObject({ code: 'workload_missing', status: 404 })
    expect(await store.configs.find('nobody')).toBeUndefined()
  })

  test('of many that take the same new name at once, one wins', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, port) => store.configs.saveNew(config('echo', { port }))),
    )
    const won = outcomes.findIndex(outcome => outcome.status === 'fulfilled')
    expect(outcomes.filter(outcome => outcome.status === 'fulfilled')).toHaveLength(1)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'workload_exists' })
    expect((await store.configs.get('echo')).port).toBe(won)
  })

  test('a file that cannot be read stays, says what is wrong, and does not stop the others', async () => {
    await store.configs.save(config('good'))
    await put('broken.json', '{"name": "broken",')
    expect((await store.configs.list()).map(found => found.name)).toEqual(['good'])
    expect(await readdir(folder())).toEqual(['broken.json', 'good.json'])
    const problems = await store.configs.problems()
    expect([...problems.keys()]).toEqual(['broken'])
    expect(problems.get('broken')).toMatchObject({
      code: 'workload_unreadable',
      message: expect.stringMatching(/broken\.json is not valid: .* at line 1, column 19/),
    })
    await expect(store.configs.get('broken')).rejects.toMatchObject({ code: 'workload_unreadable' })
    await expect(store.configs.saveNew(config('broken'))).rejects.toMatchObject({
      code: 'workload_unreadable',
    })
    await put('broken.json', JSON.stringify(config('broken')))
    expect((await store.configs.list()).map(found => found.name)).toEqual(['broken', 'good'])
    expect(await store.configs.problems()).toEqual(new Map())
  })

  test('a config that names another workload is not taken for this one', async () => {
    await put('copy.json', JSON.stringify(config('original')))
    expect(await store.configs.list()).toEqual([])
    expect([...(await store.configs.problems()).keys()]).toEqual(['copy'])
  })

  test('a file that is not one of our JSON documents is left alone', async () => {
    await put('notes.txt', 'mine')
    await put('echo.json.0123.tmp', '')
    expect(await store.configs.list()).toEqual([])
    expect((await readdir(folder())).sort()).toEqual(['echo.json.0123.tmp', 'notes.txt'])
  })

  test('removing twice succeeds', async () => {
    await store.configs.save(config('echo'))
    await store.configs.remove('echo')
    await store.configs.remove('echo')
    expect(await readdir(folder())).toEqual([])
  })
})

describe('names', () => {
  test.each(['', '.', '..', 'a/b', '../x', 'a b', 'a\0', 'ä', 'x'.repeat(101), '$(id)'])(
    '%j is refused everywhere',
    async name => {
      const refused = { code: 'invalid_name', status: 400 }
      await expect(store.configs.find(name)).rejects.toMatchObject(refused)
      await expect(store.configs.get(name)).rejects.toMatchObject(refused)
      await expect(store.statuses.read(name)).rejects.toMatchObject(refused)
      await expect(store.statuses.write(name, { status: 'running', process_id: 0 })).rejects.toMatchObject(
        refused,
      )
      expect(() => store.proxyLogPath(name)).toThrow(/not a name/)
      expect(() => store.configs.save(config(name))).toThrow(/not a name/)
    },
  )

  test.each(['a', 'A.b-c_9', '...', 'x'.repeat(100)])('%j is accepted', async name => {
    await store.configs.saveNew(config(name))
    expect((await store.configs.list()).map(found => found.name)).toEqual([name])
  })
})

describe('statuses', () => {
  test('created_at survives, updated_at moves', async () => {
    await store.statuses.write('echo', { status: 'starting', process_id: 7 })
    time = new Date('2026-01-02T00:00:00Z')
    await store.statuses.write('echo', { status: 'error', status_context: 'no such image', process_id: 0 })
    expect(await store.statuses.read('echo')).toEqual({
      status: 'error',
      status_context: 'no such image',
      created_at: '2026-01-01T00:00:00.000Z',
      updated_at: '2026-01-02T00:00:00.000Z',
      process_id: 0,
    })
  })

  test('the context of an earlier status does not linger', async () => {
    await store.statuses.write('echo', { status: 'error', status_context: 'x', process_id: 0 })
    await store.statuses.write('echo', { status: 'running', process_id: 1 })
    expect(await store.statuses.read('echo')).not.toHaveProperty('status_context')
  })

  test('a surplus brace costs nothing', async () => {
    await store.statuses.write('echo', { status: 'running', process_id: 1 })
    const path = join(paths.data, 'statuses', 'echo.json')
    await writeFile(path, `${await readFile(path, 'utf8')}}\n`)
    expect(await store.statuses.read('echo')).toMatchObject({ status: 'running' })
    expect([...(await store.statuses.list()).keys()]).toEqual(['echo'])
    expect(lines).toEqual([])
  })

  test('of files set aside none replaces another', async () => {
    const folder = join(paths.data, 'statuses')
    await mkdir(folder, { recursive: true })
    for (const text of ['first', 'second']) {
      await writeFile(join(folder, 'echo.json'), text)
      await store.statuses.list()
    }
    expect(await readFile(join(folder, 'echo.json.corrupted'), 'utf8')).toBe('first')
    expect(await readFile(join(folder, 'echo.json.corrupted-2'), 'utf8')).toBe('second')
  })

  test.each(['', '{}', '{"status":"dancing","created_at":"x","updated_at":"x","process_id":1}', '[1'])(
    'the file %j is set aside and counts as absent',
    async text => {
      await mkdir(join(paths.data, 'statuses'), { recursive: true })
      await writeFile(join(paths.data, 'statuses', 'echo.json'), text)
      await store.statuses.write('other', { status: 'running', process_id: 1 })
      expect(await store.statuses.read('echo')).toBeUndefined()
      expect([...(await store.statuses.list()).keys()]).toEqual(['other'])
      expect(await readdir(join(paths.data, 'statuses'))).toContain('echo.json.corrupted')
      expect(lines).toHaveLength(1)
    },
  )
})
