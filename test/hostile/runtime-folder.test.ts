import { chmod, chown, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findPaths } from '../../src/paths.ts'
import { keelsonUser } from '../support/keelson.ts'

const SOMEBODY_ELSE = 4711

/** Ways in which another user can have been in the folder first. */
const TRAPS = {
  'a folder of another user': (path: string) => chown(path, SOMEBODY_ELSE, SOMEBODY_ELSE),
  'a folder that others may write to': (path: string) => chmod(path, 0o777),
  'a link to a folder of another user': async (path: string) => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'elsewhere-'))
    onTestFinished(() => rm(elsewhere, { recursive: true }))
    await rm(path, { recursive: true })
    await symlink(elsewhere, path)
  },
}

test.each(Object.entries(TRAPS))('a supervisor that waits in %s gets no request', async (_, set) => {
  const user = await keelsonUser()
  // With so deep a data folder the socket lies in the temporary folder, under a name that anybody can find out.
  user.env.XDG_DATA_HOME = join(user.home, 'deep'.repeat(20))
  const { runtime } = findPaths(user.env)
  expect(runtime.startsWith(join(tmpdir(), 'keelson-'))).toBe(true)
  await mkdir(runtime, { mode: 0o700 })
  onTestFinished(() => rm(runtime, { recursive: true, force: true }))
  await set(runtime)
  const asked: string[] = []
  const trap = createServer(({ url = '' }, response) => {
    asked.push(url)
    response.end(JSON.stringify({ build: 'evil', pid: 1, workloads: 0 }))
  })
  await new Promise<void>(resolve => trap.listen(join(runtime, 'supervisor.sock'), resolve))
  onTestFinished(() => void trap.close())

  const remote = await user.run(['run', 'https://example.com/mcp', '--name', 'trapped'])
  const local = await user.run(['run', 'npx://left-pad', '--runtime', 'process'])

  for (const { code, stdout, stderr } of [remote, local]) {
    expect(stderr).toContain(`Error: The folder ${runtime} is not used: `)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  }
  expect(asked).toEqual([])
})
