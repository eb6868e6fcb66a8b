import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createCrashJournal } from '../../../plugins/supervisor/crash-journal.ts'

let folder: string
let time: number
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ks-'))
  time = 1_000_000
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const path = () => join(folder, 'journal.json')
const open = () => createCrashJournal({ path: path(), now: () => time, delay: async () => undefined })
/** A host that is killed while it brings these workloads up. */
const killedDuring = async (...names: string[]) => {
  const journal = open()
  const begun = names.map(name => {
    const { promise, resolve } = Promise.withResolvers<void>()
    void journal.trackStart(name, () => {
      resolve()
      return new Promise(() => undefined)
    })
    return promise
  })
  await Promise.all(begun)
}

test('a finished start is not a suspect', async () => {
  expect(await open().trackStart('a', async () => 7)).toBe(7)
  await expect(open().trackStart('b', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(open().suspects().size).toBe(0)
})

test('several that were under way are suspects, and none is to blame', async () => {
  for (let round = 0; round < 4; round++) await killedDuring('a', 'b')
  const journal = open()
  expect([...journal.suspects()].sort()).toEqual(['a', 'b'])
  expect(journal.isQuarantined('a')).toBe(false)
})

test('one alone is to blame, and quarantined at the third time', async () => {
  await killedDuring('a')
  await killedDuring('a')
  expect(open().isQuarantined('a')).toBe(false)
  await killedDuring('a')
  expect(open().isQuarantined('a')).toBe(true)
  expect(open().isQuarantined('b')).toBe(false)
})

test('crashes longer ago than five minutes do not count', async () => {
  await killedDuring('a')
  await killedDuring('a')
  time += 5 * 60_000
  await killedDuring('a')
  expect(open().isQuarantined('a')).toBe(false)
})

test('a suspect that came up well is cleared', async () => {
  await killedDuring('a', 'b')
  const journal = open()
  await journal.trackStart('a', async () => undefined)
  expect([...journal.suspects()]).toEqual(['b'])
  expect([...open().suspects()]).toEqual(['b'])
})

test('an escaped error is blamed on the workload whose work it was, those beside it are innocent', async () => {
  const journal = open()
  await new Promise<void>(resolve => {
    void journal.trackStart('beside', () => new Promise(() => undefined))
    void journal.attribute('guilty', async () => {
      setTimeout(() => {
        expect(journal.recordCrash()).toEqual({ workload: 'guilty', crashes: 1 })
        resolve()
      })
    })
  })
  const next = JSON.parse(await readFile(path(), 'utf8')) as unknown
  expect(next).toEqual({ inFlight: [], suspects: [], crashes: { guilty: [time] } })
})

test('an error without a workload is counted, and quarantines none', () => {
  expect(open().recordCrash()).toEqual({ workload: undefined, crashes: 1 })
  expect(open().recordCrash()).toEqual({ workload: undefined, crashes: 2 })
})

test.each(['', '{"torn', '[]', '{"inFlight":[1]}'])('a journal that reads %j is started anew', async text => {
  await writeFile(path(), text)
  expect(open().suspects().size).toBe(0)
})
