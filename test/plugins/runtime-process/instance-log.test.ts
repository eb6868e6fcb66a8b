import { mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { capLog } from '../../../plugins/runtime-process/instance-log.ts'

const MIB = 2 ** 20

async function logOf(bytes: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-log-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'log')
  await writeFile(path, Buffer.alloc(bytes, 'x'), { mode: 0o600 })
  return path
}

test('a log beyond its cap moves to a second file', async () => {
  const path = await logOf(MIB + 1)
  await capLog(path, MIB)
  expect((await readFile(path)).length).toBe(0)
  expect((await readFile(`${path}.1`)).length).toBe(MIB + 1)
  expect((await stat(`${path}.1`)).mode & 0o777).toBe(0o600)
})

test('a server that empties its log while it is moved keeps nobody waiting', async () => {
  for (let round = 0; round < 20; round++) {
    const path = await logOf(8 * MIB)
    const moved = capLog(path, MIB)
    await truncate(path, round * 1000)
    await moved
    // Emptied before it was looked at, it is no log that has to be moved.
    expect([0, round * 1000]).toContain((await stat(path)).size)
  }
})
