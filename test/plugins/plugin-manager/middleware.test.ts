import { globSync } from 'node:fs'
import { appendFile, cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { guardedServer, testHome } from '../auth-out/guarded-server.ts'
import { post, rpc } from '../proxy/test-proxy.ts'

const careful = new URL('../../../fixtures/careful-plugin', import.meta.url).pathname

test('the middleware of an added plugin judges calls, is shown, and keeps to its stages', {
  timeout: 120_000,
}, async () => {
  const home = await testHome({ secrets: false })
  const server = await guardedServer()
  const folder = join(home.path, 'careful')
  await cp(careful, folder, { recursive: true })
  await home.ok(['plugin', 'add', './careful', '--yes'])

  const url = (await home.ok(['run', server.url, '--name', 'a', '--tools', 'delete_all,get_*'])).trim()
  const call = (name: string) => post(url, rpc('tools/call', 1, { name }))
  expect((await call('get_x')).status).toBe(200)
  const sent = server.seen.length
  expect(server.seen.at(-1)).toMatchObject({ 'x-careful': 'yes' })
  const refused = await call('delete_all')
  expect([refused.status, await refused.text()]).toEqual([
    403,
    expect.stringContaining('not for this machine'),
  ])
  expect(server.seen.length).toBe(sent)

  const shown = await home.ok(['status', 'a'])
  expect(shown).toMatch(/ tools +shows delete_all, get_\*\n/)
  expect(shown).toMatch(/ validate +refuses delete_all \(plugin keelson-careful\)\n/)
  const { middlewares } = JSON.parse(await home.ok(['status', 'a', '--format', 'json']))
  expect(middlewares).toContainEqual({
    ...{ stage: 'validate', name: 'careful', description: 'refuses delete_all' },
    ...{ plugin: 'keelson-careful', added: true },
  })

  const entry = join(folder, 'index.js')
  await writeFile(entry, (await readFile(entry, 'utf8')).replace("'validate'", "'guard'"))
  await home.ok(['plugin', 'add', './careful', '--yes'])
  const misplaced = await home.keelson(['run', server.url, '--name', 'b', '--foreground'])
  expect([misplaced.code, misplaced.stdout]).toEqual([1, ''])
  expect(misplaced.stderr).toContain('its stage is "guard"')

  const installed = globSync(join(home.path, '.local/share/keelson/plugins/*/package/index.js'))
  expect(installed).not.toEqual([])
  for (const path of installed) await appendFile(path, '// changed')
  const broken = await home.keelson(['run', server.url, '--name', 'c', '--foreground'])
  expect([broken.code, broken.stdout]).toEqual([1, ''])
  expect(broken.stderr).toContain('"keelson-careful" cannot be loaded')
})
