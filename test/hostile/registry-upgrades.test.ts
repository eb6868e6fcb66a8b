import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clientV1, textOf } from '../e2e/clients.ts'
import { openWorld, type World } from '../plugins/upgrade/world.ts'
import { type ApiServer, startApi } from '../support/api-server.ts'
import { engineProblem } from '../support/engine-problem.ts'
import { needs } from '../support/left-out.ts'
import { atTerminal } from '../support/terminal.ts'

// A publisher whose server is in use publishes a version that wants more than the one before.

const QUIET = ['--image-verification', 'disabled']
const problem = engineProblem('docker', 'keelson-test/node:24')
let world: World

beforeAll(async () => {
  if (problem) return
  world = await openWorld()
  for (const tag of ['1.0.0', '2.0.0', '3.0.0']) await world.push(tag)
}, 180_000)
afterAll(() => world?.close(), 180_000)

const outbound = { network: { outbound: {} } }
const version = async (url: string) => {
  const client = await clientV1(url, undefined, { closes: false })
  const text = textOf(await client.callTool({ name: 'version' }))
  await client.close()
  return text
}

async function folderOf(name: string): Promise<string> {
  const folder = join(world.home.path, name)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'note'), name)
  return folder
}

test('an upgrade asks for mounts that were not agreed to, once, and otherwise the old version serves on', {
  timeout: 300_000,
}, async context => {
  needs(context, problem)
  const { home } = world
  const name = `hostile-upgrade-${process.pid}`
  const apply = (...more: string[]) => home.keelson(['upgrade', 'apply', name, ...QUIET, ...more])
  const folder = await folderOf('wanted-later')
  const wanting = { permissions: { ...outbound, write: [`${folder}:/data`] } }
  await world.offer('1.0.0', { permissions: outbound })
  const url = await home.ok(['run', 'clock', '--name', name, '--runtime', 'docker', ...QUIET])
  const before = await world.config(name)

  await world.offer('2.0.0', wanting)
  for (const more of [[], ['--yes']]) {
    const refused = await apply(...more)
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain(`write ${folder} (as /data)`)
    expect(refused.stderr).toContain('--accept-permissions')
  }
  const declined = await atTerminal(
    { cwd: home.path, env: home.env },
    ['upgrade', 'apply', name, ...QUIET],
    [
      [`Upgrade ${name}?`, 'y\r'],
      ['Allow it?', 'n\r'],
    ],
  )
  expect(declined).toMatchObject({ code: 1, untaken: 0 })
  expect(declined.screen).toContain('was not given access; nothing was changed')
  expect(await world.config(name)).toEqual(before)
  expect(await version(url)).toBe('1.0.0')

  expect(await apply('--accept-permissions')).toMatchObject({ code: 0 })
  expect(await version(url)).toBe('2.0.0')
  const accepted = await world.config(name)
  expect(accepted).toMatchObject({ permission_profile: { ...outbound, write: [`${folder}:/data`] } })

  await world.offer('3.0.0', wanting)
  expect(await apply()).toMatchObject({ code: 0 })
  expect(await version(url)).toBe('3.0.0')
  expect((await world.config(name)).accepted_permissions).toBe(accepted.accepted_permissions)
  await home.ok(['rm', name])
})

test('an upgrade over HTTP is 409 until the hash of what is wanted is sent', {
  timeout: 300_000,
}, async context => {
  needs(context, problem)
  const name = `hostile-http-upgrade-${process.pid}`
  const folder = await folderOf('wanted-over-http')
  await world.offer('1.0.0', { permissions: outbound })
  const url = await world.home.ok(['run', 'clock', '--name', name, '--runtime', 'docker', ...QUIET])
  await world.offer('2.0.0', { permissions: { ...outbound, read: [`${folder}:/data`] } })
  const api: ApiServer = await startApi({
    user: { home: world.home.path, env: world.home.env, run: world.home.keelson as never },
  })
  const path = `/api/v1beta/workloads/${name}/upgrade`

  const asked = await api.ask('POST', path)
  expect(asked.status).toBe(409)
  const { wanted_permissions: wanted } = asked.json() as {
    wanted_permissions: { hash: string; mounts: object[] }
  }
  expect(wanted.mounts).toEqual([{ source: folder, target: '/data', access: 'read' }])
  expect((await api.ask('POST', path, { accept_permissions: 'sha256:other' })).status).toBe(409)
  expect(await version(url)).toBe('1.0.0')

  const done = await api.ask('POST', path, { accept_permissions: wanted.hash })
  expect(done.status, done.text).toBe(200)
  expect(await version(url)).toBe('2.0.0')
  expect(await world.config(name)).toMatchObject({
    accepted_permissions: wanted.hash,
    permission_profile: { read: [`${folder}:/data`] },
  })
  await world.home.ok(['rm', name])
})

test('an upgrade that asks for more than an entry may is not made, and a profile of the user stays', {
  timeout: 300_000,
}, async context => {
  needs(context, problem)
  const { home } = world
  const name = `hostile-privileged-${process.pid}`
  await world.offer('1.0.0', { permissions: outbound })
  const url = await home.ok(['run', 'clock', '--name', name, '--runtime', 'docker', ...QUIET])
  await world.offer('2.0.0', { permissions: { ...outbound, privileged: true } })

  const refused = await home.keelson(['upgrade', 'apply', name, '--accept-permissions', ...QUIET])

  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('asks for more than an entry may')
  expect(await version(url)).toBe('1.0.0')
  await home.ok(['rm', name])

  await world.offer('1.0.0', { permissions: outbound })
  const own = ['--permission-profile', 'none']
  const owned = await home.ok(['run', 'clock', '--name', name, '--runtime', 'docker', ...own, ...QUIET])
  await world.offer('2.0.0', { permissions: { privileged: true, read: ['/'] } })
  expect(await home.keelson(['upgrade', 'apply', name, ...QUIET])).toMatchObject({ code: 0 })
  expect(await version(owned)).toBe('2.0.0')
  expect((await world.config(name)).permission_profile).toEqual({ name: 'none', network: { outbound: {} } })
  await home.ok(['rm', name])
})
