import { appendFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createApp } from '../../../src/app.ts'
import { thirdPartyEntries } from '../../../src/loader.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'
import type { PluginEntry } from '../../../src/plugin.ts'
import { type KeelsonUser, keelsonUser } from '../../support/keelson.ts'
import { writePlugin } from './plugin-folder.ts'

const folderOf = (user: KeelsonUser) => join(user.home, '.local/share/keelson/plugins')
const lockOf = (user: KeelsonUser) => join(folderOf(user), 'plugins.lock.json')

async function userWith(plugin: Parameters<typeof writePlugin>[1]): Promise<KeelsonUser> {
  const user = await keelsonUser()
  await writePlugin(join(user.home, 'p'), plugin)
  expect(await user.run(['plugin', 'add', './p', '--yes'])).toMatchObject({ code: 0 })
  return user
}

async function change(user: KeelsonUser, edit: (path: string) => Promise<void>): Promise<void> {
  const name = (await readdir(folderOf(user))).find(entry => entry.startsWith('hello-plugin@')) ?? ''
  await edit(join(folderOf(user), name, 'package'))
}

const throws = { code: 'throw new Error("I am no good")', keelson: { provides: ['runtimes'] } }

test.each<[string, Parameters<typeof writePlugin>[1], RegExp]>([
  ['throws at import', throws, /cannot be loaded: I am no good/],
  ['has a syntax error', { code: 'export default {' }, /cannot be loaded/],
  ['has no default export', { code: 'export const plugin = {}' }, /default export is not a plugin/],
  ['lists commands that are none', { code: 'export default { name: "x", commands: [{}] }' }, /`commands`/],
  ['imports what is not there', { code: 'import "no-such-package"' }, /no-such-package/],
])('the verb of a plugin that %s fails with its name and what to do', async (_, plugin, problem) => {
  const user = await userWith(plugin)

  const { code, stdout, stderr } = await user.run(['hello'])

  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/The plugin "hello-plugin" cannot be loaded/)
  expect(stderr).toMatch(problem)
  expect(stderr).toContain('keelson plugin remove hello-plugin')
})

test('a plugin with files changed after it was added does not run', async () => {
  const user = await userWith({})
  await change(user, folder => appendFile(join(folder, 'index.js'), '\nconsole.log("changed")'))

  const { code, stdout, stderr } = await user.run(['hello'])

  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain('its files were changed after you added it')
})

test('a file added to a plugin is a change, too', async () => {
  const user = await userWith({})
  await change(user, folder => writeFile(join(folder, 'more.js'), ''))

  const { stdout } = await user.run(['plugin', 'list', '--format', 'json'])

  expect(JSON.parse(stdout)).toMatchObject([
    { name: 'hello-plugin', state: 'broken', problem: expect.stringContaining('changed') },
  ])
})

test('a spoilt plugin is mended by adding it again', async () => {
  const user = await userWith({})
  await change(user, folder => rm(join(folder, 'index.js')))

  await user.run(['plugin', 'add', './p', '--yes'])

  expect((await user.run(['hello'])).stdout).toBe('hello\n')
})

test('a plugin of a broken state is listed, can be removed, and does not harm other commands', async () => {
  const user = await userWith(throws)
  await change(user, folder => rm(folder, { recursive: true }))

  expect(await user.run(['version'])).toMatchObject({ code: 0, stderr: '' })
  expect((await user.run(['plugin', 'list'])).stdout).toMatch(/hello-plugin\s+1\.0\.0\s+broken/)
  expect(await user.run(['plugin', 'remove', 'hello-plugin'])).toMatchObject({ code: 0 })
})

test('a broken runtime of a plugin costs one warning; the other runtimes stay', async () => {
  const user = await userWith(throws)
  const paths = findPaths(user.env)
  const warnings: string[] = []
  const log = createLog({ write: line => warnings.push(line), human: false, debug: false })
  const docker = { name: 'docker' }
  const builtin: PluginEntry = {
    name: 'runtime-docker',
    provides: ['runtimes'],
    load: async () => ({ name: 'runtime-docker', provides: { runtimes: [() => docker as never] } }),
  }
  const entries = [builtin, ...(await thirdPartyEntries(paths, log, []))]
  const app = createApp({ paths, log, env: user.env, entries })

  const first = await app.contributions('runtimes')
  const second = await app.contributions('runtimes')

  expect(first.map(make => make(app))).toEqual([docker])
  expect(second).toHaveLength(1)
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).toContain('I am no good')
})

test('with a broken plugin the runtimes of keelson are used, after one warning', async () => {
  const user = await userWith(throws)

  const { stdout, stderr } = await user.run(['runtime', 'check'])

  for (const name of ['docker', 'podman', 'process']) expect(stdout).toMatch(new RegExp(`^${name}\\s`, 'm'))
  expect(stderr.trim().split('\n')).toEqual([expect.stringContaining('I am no good')])
})

test('a plugin of an API this program does not know is not loaded', async () => {
  const user = await userWith({})
  const text = await readFile(lockOf(user), 'utf8')
  await writeFile(lockOf(user), text.replace('"apiVersion": 1', '"apiVersion": 9'))

  const { code, stderr } = await user.run(['hello'])

  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('plugin API 9') })
})

test.each([
  ['no JSON', '{ "lockVersion": 1,'],
  ['another version', '{ "lockVersion": 2, "plugins": [] }'],
  ['a record with a missing member', '{ "lockVersion": 1, "plugins": [{ "name": "x" }] }'],
])('a lock file that is %s costs one warning and the added plugins', async (_, text) => {
  const user = await userWith({})
  await writeFile(lockOf(user), text)

  const { code, stdout, stderr } = await user.run(['version'])

  expect(code).toBe(0)
  expect(stdout).toContain('keelson ')
  expect(stderr.trim().split('\n')).toHaveLength(1)
  expect(stderr).toContain('plugins.lock.json is not valid')
})

test('nothing is added to, or taken from, a lock file that cannot be read', async () => {
  const user = await userWith({})
  await writeFile(lockOf(user), 'oops')

  const added = await user.run(['plugin', 'add', './p', '--yes'])
  const removed = await user.run(['plugin', 'remove', 'hello-plugin'])

  expect(added.code).toBe(1)
  expect(removed.code).toBe(1)
  expect(added.stderr).toContain('Repair the file')
  expect(await readFile(lockOf(user), 'utf8')).toBe('oops')
})

test('a lock file that is a folder costs one warning', async () => {
  const user = await keelsonUser()
  await mkdir(lockOf(user), { recursive: true })

  const { code, stderr } = await user.run(['version'])

  expect(code).toBe(0)
  expect(stderr).toContain('No added plugin is loaded')
})

test('--no-plugins leaves added plugins out', async () => {
  const user = await userWith(throws)

  const { code, stderr } = await user.run(['--no-plugins', 'hello'])

  expect(code).toBe(2)
  expect(stderr).toContain('There is no command "hello"')
})

test('the next change removes what a killed process was preparing', async () => {
  const user = await userWith({})
  const left = join(folderOf(user), 'new-0123456789ab')
  await mkdir(left)
  await writeFile(`${left}.lock`, '999999999@1')
  await cp(join(user.home, 'p'), join(folderOf(user), 'gone@0123456789abcdef'), { recursive: true })

  await user.run(['plugin', 'add', './p', '--yes'])

  const kept = await readdir(folderOf(user))
  expect(kept).toHaveLength(2)
  expect(kept).toContain('plugins.lock.json')
})
