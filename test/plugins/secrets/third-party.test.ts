import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keelsonUser } from '../../support/keelson.ts'
import { writePlugin } from '../plugin-manager/plugin-folder.ts'

const code = `
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { definePlugin } from 'keelson/plugin'

const drawer = {
  type: 'drawer',
  description: 'files of a folder, one per secret; read only',
  envFallback: false,
  make: ({ paths }) => ({
    find: name => readFile(join(paths.home, 'drawer', name), 'utf8').catch(() => undefined),
    prepare: async () => undefined,
  }),
}
export default definePlugin({ name: 'drawer-plugin', provides: { secretsProviders: [drawer] } })
`

test('a plugin brings a provider, which is chosen and used like ours', async () => {
  const user = await keelsonUser()
  const folder = await writePlugin(join(user.home, 'plugin'), {
    name: 'drawer-plugin',
    keelson: { verbs: {}, provides: ['secretsProviders'] },
    code,
    files: { '../drawer/TOKEN': 'planted' },
  })
  expect(await user.run(['plugin', 'add', folder, '--yes'])).toMatchObject({ code: 0 })

  expect(await user.run(['secret', 'provider', 'drawer'])).toEqual({ code: 0, stdout: '', stderr: '' })

  expect(await user.run(['secret', 'get', 'TOKEN'])).toEqual({ code: 0, stdout: 'planted\n', stderr: '' })
  expect((await user.run(['secret', 'get', 'OTHER'])).stderr).toContain('There is no secret "OTHER"')
  const set = await user.run(['secret', 'set', 'TOKEN'], { input: 'x' })
  expect(set).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The drawer provider cannot store secrets'),
  })
})

test('a removed plugin leaves a clear error, and another provider can be chosen', async () => {
  const user = await keelsonUser()
  const folder = await writePlugin(join(user.home, 'plugin'), {
    name: 'drawer-plugin',
    keelson: { verbs: {}, provides: ['secretsProviders'] },
    code,
  })
  await user.run(['plugin', 'add', folder, '--yes'])
  await user.run(['secret', 'provider', 'drawer'])
  await user.run(['plugin', 'remove', 'drawer-plugin'])

  const shown = await user.run(['secret', 'get', 'TOKEN'])

  expect(shown).toMatchObject({ code: 2, stdout: '' })
  expect(shown.stderr).toContain(
    '"drawer" is not a provider of secrets; the providers are encrypted, environment, 1password',
  )
  expect((await user.run(['secret', 'provider', 'environment'])).code).toBe(0)
})
