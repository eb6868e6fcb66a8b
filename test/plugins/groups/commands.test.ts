import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type KeelsonUser, keelsonUser } from '../../support/keelson.ts'

/** Puts a stopped workload into the group. */
async function saveWorkload(
  { home }: KeelsonUser,
  name: string,
  group: string,
): Promise<() => Promise<string>> {
  const folder = join(home, '.local/state/keelson/runconfigs')
  await mkdir(folder, { recursive: true })
  const path = join(folder, `${name}.json`)
  const config = { schema_version: 'v0.1.0', name, group, image: 'x', transport: 'stdio', port: 4000 }
  await writeFile(path, JSON.stringify(config))
  return async () => JSON.parse(await readFile(path, 'utf8')).group as string
}

test('groups are created in silence and listed', async () => {
  const user = await keelsonUser()

  expect(await user.run(['group', 'create', 'my work'])).toEqual({ code: 0, stdout: '', stderr: '' })

  expect((await user.run(['group', 'list'])).stdout).toBe('NAME\ndefault\nmy work\n')
  expect(JSON.parse((await user.run(['group', 'list', '--format', 'json'])).stdout)).toEqual([
    { name: 'default', registered_clients: [] },
    { name: 'my work', registered_clients: [] },
  ])
})

test('removing a group with members needs a yes, and moves them', async () => {
  const user = await keelsonUser()
  await user.run(['group', 'create', 'work'])
  const groupOf = await saveWorkload(user, 'one', 'work')

  const refused = await user.run(['group', 'rm', 'work'])
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(refused.stderr).toMatch(/one[\s\S]*--yes/)
  expect(await groupOf()).toBe('work')

  expect(await user.run(['group', 'rm', 'work', '--yes'])).toEqual({ code: 0, stdout: '', stderr: '' })
  expect(await groupOf()).toBe('default')
  expect((await user.run(['group', 'rm', 'work'])).code).toBe(1)
})

test('an empty group is removed without a question', async () => {
  const user = await keelsonUser()
  await user.run(['group', 'create', 'work'])
  expect(await user.run(['group', 'rm', 'work'])).toEqual({ code: 0, stdout: '', stderr: '' })
})

test.each([
  [['stop', '--group', 'nope'], 1, 'There is no group "nope"'],
  [['start', '--group', 'nope'], 1, 'There is no group "nope"'],
  [['rm', '--group', 'nope'], 1, 'There is no group "nope"'],
  [['run', 'npx://x', '--group', 'nope'], 1, 'There is no group "nope"'],
  [['list', '--group', 'Nope'], 2, '"Nope" is not a name for a group'],
  [['run', 'npx://x', '--group', 'No pe'], 2, '"No pe" is not a name for a group'],
  [['group', 'create', 'default'], 1, 'There is a group "default" already'],
])('%j fails', async (args, code, words) => {
  const user = await keelsonUser()
  const shown = await user.run(args)
  expect(shown).toMatchObject({ code, stdout: '' })
  expect(shown.stderr).toContain(words)
})

test('a list of an unknown group fails, and suggests a near one', async () => {
  const user = await keelsonUser()
  await user.run(['group', 'create', 'work'])
  const { code, stdout, stderr } = await user.run(['list', '--group', 'wrok'])
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain('There is no group "wrok".\nDid you mean "work"?')
})
