import { once } from 'node:events'
import { readdir, readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { bundled } from '../../support/bundled.ts'
import { series } from '../../support/series.ts'
import { groupsWorld } from './groups-world.ts'

const program = bundled(new URL('./adder-program.ts', import.meta.url))
const remover = bundled(new URL('./remover-program.ts', import.meta.url))

test('a new group is empty, on disk, and for its owner only', async () => {
  const { groups, pathOf } = await groupsWorld()

  await groups.create('my work')

  expect(JSON.parse(await readFile(pathOf('my work'), 'utf8'))).toEqual({
    name: 'my work',
    registered_clients: [],
  })
  expect((await stat(pathOf('my work'))).mode & 0o777).toBe(0o600)
  expect(await groups.get('my work')).toEqual({ name: 'my work', registered_clients: [] })
})

test('of many who create one group at once one succeeds', async () => {
  const { groups } = await groupsWorld()

  const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => groups.create('work')))

  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  for (const outcome of outcomes)
    if (outcome.status === 'rejected')
      expect(outcome.reason).toMatchObject({ code: 'group_exists', status: 409 })
})

test.each(['', 'Work', ' work', 'work ', 'a  b', 'a\tb', 'a/b', '../a', 'a.b', 'ä', 'a\0', 'x'.repeat(101)])(
  '%j can name no group',
  async name => {
    const { groups, pathOf } = await groupsWorld()
    const failure = { code: 'group_name_invalid', status: 400, exit: 2 }

    for (const attempt of [
      () => groups.create(name),
      () => groups.get(name),
      () => groups.addClient(name, 'cursor'),
    ])
      await expect(attempt()).rejects.toMatchObject(failure)
    await expect(stat(dirname(pathOf('x')))).rejects.toThrow('ENOENT')
  },
)

test('groups are listed in order, and default is there without a file', async () => {
  const { groups, pathOf } = await groupsWorld()
  for (const name of ['work', 'a-team', 'zoo']) await groups.create(name)

  expect((await groups.list()).map(({ name }) => name)).toEqual(['a-team', 'default', 'work', 'zoo'])

  await groups.assertExists('default')
  await expect(stat(pathOf('default'))).rejects.toThrow('ENOENT')
  await expect(groups.create('default')).rejects.toMatchObject({ code: 'group_exists' })
})

test('a group that is not there is unknown', async () => {
  const { groups } = await groupsWorld()
  const failure = { code: 'group_unknown', status: 404 }
  expect(await groups.find('work')).toBeUndefined()
  await expect(groups.get('work')).rejects.toMatchObject(failure)
  await expect(groups.assertExists('work')).rejects.toMatchObject(failure)
  await expect(groups.addClient('work', 'cursor')).rejects.toMatchObject(failure)
  await expect(groups.remove('work', { workloads: 'move' })).rejects.toMatchObject(failure)
})

test('clients join once and leave once; what nobody here knows stays', async () => {
  const { groups, write } = await groupsWorld()
  await write('work', '{"name": "work", "registered_clients": null, "skills": ["s"], "later": 1}')

  expect(await groups.addClient('work', 'cursor')).toBe(true)
  expect(await groups.addClient('work', 'cursor')).toBe(false)
  expect(await groups.addClient('work', 'zed')).toBe(true)
  expect(await groups.removeClient('work', 'cursor')).toBe(true)
  expect(await groups.removeClient('work', 'cursor')).toBe(false)

  expect(await groups.get('work')).toEqual({
    name: 'work',
    registered_clients: ['zed'],
    skills: ['s'],
    later: 1,
  })
})

test('a client that joins default makes its file', async () => {
  const { groups } = await groupsWorld()
  await groups.addClient('default', 'cursor')
  expect(await groups.get('default')).toEqual({ name: 'default', registered_clients: ['cursor'] })
})

test.each([
  ['text', 'oops', 'line 1'],
  ['another group', '{"name": "other"}', 'it names the group "other"'],
  ['wrong types', '{"name": "work", "registered_clients": "cursor"}', 'registered_clients'],
])('a file that holds %s fails by name, stays, and does not hide the others', async (_, text, words) => {
  const { groups, write, pathOf, lines } = await groupsWorld()
  await groups.create('play')
  await write('work', text)

  await expect(groups.get('work')).rejects.toMatchObject({
    code: 'invalid_file',
    message: expect.stringContaining(words),
  })
  await expect(groups.create('work')).rejects.toMatchObject({ code: 'invalid_file' })
  expect((await groups.list()).map(({ name }) => name)).toEqual(['default', 'play'])

  expect(lines.join()).toContain(pathOf('work'))
  expect(await readFile(pathOf('work'), 'utf8')).toBe(text)
})

test('members are the workloads whose run config names the group', async () => {
  const { groups, save } = await groupsWorld()
  await groups.create('work')
  await save('a', 'work')
  await save('b')
  await save('c', 'default')

  expect(await groups.members('work')).toEqual(['a'])
  expect(await groups.members('default')).toEqual(['b', 'c'])
})

test('with its group gone a workload belongs to default', async () => {
  const { groups, save, store, pathOf } = await groupsWorld()
  await groups.create('work')
  await save('a', 'work')
  await save('b', 'work')
  await save('c', 'default')

  const removal = await groups.remove('work', { workloads: 'move' })

  expect(removal).toEqual({ moved: ['a', 'b'], removed: [] })
  expect((await store.configs.list()).map(({ group }) => group)).toEqual(['default', 'default', 'default'])
  await expect(stat(pathOf('work'))).rejects.toThrow('ENOENT')
})

test('the hook for a removed group is called after its members are moved or removed', async () => {
  const seen: unknown[] = []
  const world = await groupsWorld({
    onRemoved: async () => {
      seen.push(await world.groups.find('work'), await world.groups.members('default'))
    },
  })
  await world.groups.create('work')
  await world.save('a', 'work')

  await world.groups.remove('work', { workloads: 'move' })

  expect(seen).toEqual([undefined, ['a']])
})

test('workloads can go with their group', async () => {
  const { groups, save, store } = await groupsWorld()
  await groups.create('work')
  await save('a', 'work')
  await save('c', 'default')

  expect(await groups.remove('work', { workloads: 'remove' })).toEqual({ moved: [], removed: ['a'] })

  expect((await store.configs.list()).map(({ name }) => name)).toEqual(['c'])
  expect(await groups.find('work')).toBeUndefined()
})

test('a workload that cannot be removed keeps the group, which can be removed later', async () => {
  const stuck = ['b']
  const { groups, save } = await groupsWorld({ stuck })
  await groups.create('work')
  await save('a', 'work')
  await save('b', 'work')

  await expect(groups.remove('work', { workloads: 'remove' })).rejects.toMatchObject({
    code: 'group_not_emptied',
    message: expect.stringContaining('b: the engine is away'),
  })
  expect(await groups.members('work')).toEqual(['b'])
  stuck.pop()

  expect(await groups.remove('work', { workloads: 'remove' })).toEqual({ moved: [], removed: ['b'] })
})

test.each(['default', 'Default'])('%s stays', async name => {
  const { groups } = await groupsWorld()
  await expect(groups.remove(name, { workloads: 'move' })).rejects.toMatchObject({
    code: 'group_default_stays',
  })
})

test('writers in several processes lose nothing', async () => {
  const { home, groups } = await groupsWorld()
  await groups.create('work')

  const writers = Array.from({ length: 12 }, (_, i) => `w${i}`)
  await Promise.all(writers.map(writer => execa(process.execPath, [program, home, 'work', writer, '5'])))

  expect((await groups.get('work')).registered_clients).toHaveLength(60)
})

test('a writer killed at any moment leaves a whole file that others can write', async () => {
  const { home, groups, pathOf } = await groupsWorld()
  await groups.create('work')
  let written = 0

  for (let round = 0; round < series({ usual: 5, long: 60 }); round++) {
    const child = execa(process.execPath, [program, home, 'work', `r${round}`, '100000'], { reject: false })
    await once(child.stdout, 'data')
    const before = (await stat(pathOf('work'))).ino
    while ((await stat(pathOf('work'))).ino === before) await new Promise(setImmediate)
    for (let step = 0; step < round * 3; step++) await readdir(dirname(pathOf('work')))
    child.kill('SIGKILL')
    await child
    const { length } = (await groups.get('work')).registered_clients
    expect(length).toBeGreaterThan(written)
    written = length
  }

  expect(await groups.addClient('work', 'cursor')).toBe(true)
})

test('a removal killed on the way loses no workload, and the same call finishes it', async () => {
  const { home, groups, save } = await groupsWorld()
  await groups.create('work')
  const names = Array.from({ length: 120 }, (_, i) => `w${String(i).padStart(3, '0')}`)
  for (const name of names) await save(name, 'work')

  for (const share of [10, 60]) {
    const child = execa(process.execPath, [remover, home, 'work'], { reject: false })
    while ((await groups.members('default')).length < share) await new Promise(setImmediate)
    child.kill('SIGKILL')
    await child
    const [there, moved] = [await groups.members('work'), await groups.members('default')]
    expect([...there, ...moved].sort()).toEqual(names)
    expect(there.length).toBeGreaterThan(0)
    await groups.assertExists('work')
  }

  await groups.remove('work', { workloads: 'move' })
  expect(await groups.members('default')).toEqual(names)
  expect(await groups.find('work')).toBeUndefined()
})
