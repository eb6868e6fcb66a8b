import { execFileSync } from 'node:child_process'
import { mkdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readConfigFile } from '../../../plugins/authz/parse-config.ts'
import { temporaryFolder } from '../audit/audited-proxy.ts'
import { ask, authorizedProxy, cedar, offeringServer } from './authz-world.ts'

const policies = (tool: string) =>
  JSON.stringify(cedar(`permit(principal, action, resource == Tool::"${tool}");`))

/** By what they are, how they are made in place of a file. */
const ODD: readonly [string, (path: string) => unknown, string][] = [
  ['a FIFO', path => execFileSync('mkfifo', [path]), 'it is not a regular file'],
  ['a folder', path => mkdir(path), 'it is a folder'],
  ['a link to a device', path => symlink('/dev/zero', path), 'it is not a regular file'],
  [
    'a link to a FIFO',
    async path => {
      execFileSync('mkfifo', [`${path}.fifo`])
      await symlink(`${path}.fifo`, path)
    },
    'it is not a regular file',
  ],
  ['a link to itself', path => symlink(path, path), 'ELOOP'],
  [
    'a file of more than 1 MiB',
    async path => {
      await writeFile(path, policies('a'))
      await truncate(path, 1024 * 1024 + 1)
    },
    'longer than 1048576 bytes',
  ],
  ['a link to nothing', path => symlink('/nowhere/policies', path), 'does not exist'],
]

test.each(ODD)('%s is no file of policies, and is not waited for', async (_, make, problem) => {
  const path = join(await temporaryFolder(), 'policies.json')
  await make(path)
  await expect(readConfigFile(path)).rejects.toThrow(problem)
})

test('a link to a file is one, and so is a file of 1 MiB', async () => {
  const folder = await temporaryFolder()
  const path = join(folder, 'policies.json')
  const text = policies('a')
  await writeFile(`${path}.real`, text + ' '.repeat(1024 * 1024 - text.length))
  await symlink(`${path}.real`, path)
  expect((await readConfigFile(path)).authz.type).toBe('cedarv1')
})

test('policies stay in force while something else takes the place of their file, and change afterwards', async () => {
  const path = join(await temporaryFolder(), 'policies.json')
  await writeFile(path, policies('a'))
  const { target } = await offeringServer()
  const { url, logged } = await authorizedProxy({ authz_config_path: path }, { target })
  const statusOf = async (name: string) => (await ask(url, { sub: 'x' }, 'tools/call', { name })).status
  for (const [what, make] of ODD) {
    await rm(path, { recursive: true, force: true })
    await rm(`${path}.fifo`, { force: true })
    const before = logged.length
    await make(path)
    await expect.poll(() => logged.slice(before).join()).toContain('the policies stay as they were')
    expect([what, await statusOf('a'), await statusOf('b')]).toEqual([what, 200, 403])
  }
  await writeFile(`${path}.new`, policies('b'))
  await rm(path, { recursive: true, force: true })
  await rename(`${path}.new`, path)
  await expect.poll(() => statusOf('b')).toBe(200)
  expect(await statusOf('a')).toBe(403)
})
