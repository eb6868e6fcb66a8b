import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readdirSync, watch } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { contentDigest } from '../../../plugins/skill-artifacts/format/content-digest.ts'
import { createBuilds } from '../../../plugins/skill-artifacts/service.ts'
import { bundled } from '../../support/bundled.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const program = bundled(new URL('build-once.ts', import.meta.url))
/** More changes in the store than a build makes. */
const MANY = 200

/** Builds in a process of its own, which is killed at the n-th change in the store; false: it was done before. */
async function buildAndKill(store: string, folder: string, tag: string, n: number): Promise<boolean> {
  const child = spawn(process.execPath, [program, store, folder, tag], { stdio: 'inherit' })
  let changes = 0
  const watchers = [store, join(store, 'blobs/sha256')].map(place =>
    watch(place, () => {
      if (++changes >= n) child.kill('SIGKILL')
    }),
  )
  const [, signal] = await once(child, 'exit')
  for (const watcher of watchers) watcher.close()
  return signal === 'SIGKILL'
}

test('a build killed at any moment leaves the builds of before, or itself, whole', {
  timeout: 180_000,
}, async () => {
  const store = join(await temporaryFolder(), 'builds')
  mkdirSync(join(store, 'blobs/sha256'), { recursive: true })
  const builds = createBuilds({ folder: store, oci: () => Promise.reject(new Error('no')), env: {} })
  const folder = join(await temporaryFolder(), 'demo')
  await mkdir(folder)
  await writeFile(join(folder, 'SKILL.md'), '---\nname: demo\ndescription: d\n---\n')
  await writeFile(join(folder, 'data'), randomBytes(400_000))
  await builds.build(folder, 'before')
  const before = await contentDigest(folder)

  let killed = 0
  for (let n = 1; n < MANY; n += n < 6 ? 1 : 6) {
    await writeFile(join(folder, 'data'), randomBytes(400_000))
    if (!(await buildAndKill(store, folder, 'again', n))) break
    killed++
    for (const { tag } of await builds.list()) {
      const out = join(await temporaryFolder(), 'out')
      await builds.extractTo(tag, out)
      if (tag === 'before') expect(await contentDigest(out)).toBe(before)
    }
    expect((await builds.list()).map(({ tag }) => tag)).toContain('before')
  }

  expect(killed).toBeGreaterThan(5)
  await builds.build(folder, 'again')
  expect(readdirSync(join(store, 'blobs/sha256'))).toHaveLength(2 * 6)
  const left = readdirSync(store).filter(name => !name.startsWith('lock.')) // those are the lock's own, and stay
  expect(left.sort()).toEqual(['blobs', 'index.json', 'oci-layout'])
})
