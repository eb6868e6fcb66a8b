import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { supervisorPaths } from '../../plugins/supervisor/control-protocol.ts'
import { findSupervisor } from '../../plugins/supervisor/find-supervisor.ts'
import { findPaths } from '../../src/paths.ts'

const SOMEBODY_ELSE = 4711

/** A supervisor's note that leads into a folder of the temporary folder, where somebody listens. */
async function noted(set: (folder: string) => Promise<void>) {
  const home = await mkdtemp(join(tmpdir(), 'noted-'))
  onTestFinished(() => rm(home, { recursive: true }))
  const place = supervisorPaths(findPaths({ HOME: home, XDG_RUNTIME_DIR: join(home, 'session') }))
  const folder = join(home, 'emptied-since')
  await mkdir(folder, { mode: 0o700 })
  await set(folder)
  const socket = join(folder, 'supervisor.sock')
  const asked: string[] = []
  const server = createServer(({ url = '' }, response) => {
    asked.push(url)
    response.end(JSON.stringify({ build: 'one', pid: 1, workloads: 0 }))
  })
  await new Promise<void>(resolve => server.listen(socket, resolve))
  onTestFinished(() => void server.close())
  await mkdir(dirname(place.address), { recursive: true })
  await writeFile(place.address, `${socket}\n`)
  return { place, socket, asked }
}

test.each([
  ['belongs to another user', (folder: string) => chown(folder, SOMEBODY_ELSE, SOMEBODY_ELSE)],
  ['others may write to', (folder: string) => chmod(folder, 0o777)],
])('a noted socket in a folder that %s gets no request', async (_, set) => {
  const { place, asked } = await noted(set)

  expect(await findSupervisor(place)).toBeUndefined()
  expect(asked).toEqual([])
})

test('a noted socket in a folder of this user is used', async () => {
  const { place, socket } = await noted(async () => undefined)

  expect(await findSupervisor(place)).toMatchObject({ socket, info: { build: 'one' } })
})
