import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { withBuildContext } from '../../../plugins/recipes/build-context.ts'

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

async function leftBy(pid: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `keelson-build-${pid}-`))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'build-env'), "export TOKEN='x'\n")
  return folder
}

test('the folder is for its owner only, and gone afterwards', async () => {
  const seen = await withBuildContext(async folder => ({ folder, mode: (await stat(folder)).mode & 0o777 }))
  expect(seen.mode).toBe(0o700)
  expect(await isThere(seen.folder)).toBe(false)
})

test('the folder is gone after a failure, too', async () => {
  let seen = ''
  const failing = withBuildContext(async folder => {
    seen = folder
    throw new Error('engine')
  })
  await expect(failing).rejects.toThrow('engine')
  expect(await isThere(seen)).toBe(false)
})

test('what a killed build has left is removed by the next; what runs is left alone', async () => {
  const { pid: ended } = spawnSync('true')
  const [dead, alive] = [await leftBy(ended), await leftBy(process.pid)]
  const during = await withBuildContext(() => Promise.all([isThere(dead), isThere(alive)]))
  expect(during).toEqual([false, true])
})
