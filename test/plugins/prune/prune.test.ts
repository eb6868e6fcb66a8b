import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { folderName } from '../../../plugins/runtime-process/packages/installed-package.ts'
import { keelsonUser } from '../../support/keelson.ts'

/** A user without an engine, with two installed packages, one of them used, and logs of two workloads, one of them gone. */
async function lumber() {
  const user = await keelsonUser()
  user.env.PATH = dirname(process.execPath) // the engines of this machine hold images of others
  const put = async (path: string, text: string) => {
    await mkdir(dirname(join(user.home, path)), { recursive: true })
    await writeFile(join(user.home, path), text)
  }
  const placeOf = (image: string) => `.cache/keelson/packages/npx/${folderName(image)}`
  const [used, unused] = ['npx://used@1.0.0', 'npx://unused@1.0.0'] as const
  for (const image of [used, unused]) {
    const record = { image, name: 'x', version: '1.0.0', installed_at: '', command: ['x'], needs: [] }
    await put(`${placeOf(image)}/keelson.json`, JSON.stringify(record))
    await put(`${placeOf(image)}/lib/index.js`, ' '.repeat(5000))
  }
  const config = { name: 'here', image: used, runtime: 'process', transport: 'stdio', port: 20001 }
  await put('.local/state/keelson/runconfigs/here.json', JSON.stringify(config))
  const [log, stale] = ['.local/share/keelson/logs/here.log', '.local/share/keelson/logs/gone.log'] as const
  await put(log, 'x')
  await put(stale, 'y')
  const kept = [placeOf(used), log].map(path => join(user.home, path))
  const lost = [placeOf(unused), stale].map(path => join(user.home, path))
  return { user, put, kept, lost, unused, stale: join(user.home, stale) }
}

test('prune shows what nothing uses, with --dry-run only that, and deletes it with --yes', async () => {
  const { user, kept, lost, unused, stale } = await lumber()
  const shown = await user.run(['prune', '--dry-run', '--format', 'json'])
  expect(JSON.parse(shown.stdout)).toEqual([
    { kind: 'package', runtime: 'process', name: unused, bytes: expect.any(Number) },
    { kind: 'log', name: stale, bytes: 1 },
  ])
  expect(JSON.parse(shown.stdout)[0].bytes).toBeGreaterThan(5000)

  const asked = await user.run(['prune'])
  expect(asked.code).toBe(2)
  expect(asked.stderr).toContain('Add --yes to agree.')
  for (const path of [...kept, ...lost]) expect(existsSync(path), path).toBe(true)

  const done = await user.run(['prune', '--yes'])
  expect(done.stdout).toMatch(/^2 things \(\d.\d\d KiB\) deleted\.$/m)
  for (const path of kept) expect(existsSync(path), path).toBe(true)
  for (const path of lost) expect(existsSync(path), path).toBe(false)
  expect((await user.run(['prune'])).stdout).toBe('There is nothing to delete.\n')
})

test('prune leaves packages alone while a run config cannot be read', async () => {
  const { user, put, lost } = await lumber()
  await put('.local/state/keelson/runconfigs/broken.json', '{')
  const { stdout, stderr } = await user.run(['prune', '--yes'])
  expect(stdout).toContain('1 thing (1 byte) deleted.')
  expect(stderr).toContain('what a run config uses cannot be read')
  expect(lost.map(path => existsSync(path))).toEqual([true, false])
})
