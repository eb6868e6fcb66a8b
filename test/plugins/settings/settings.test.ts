import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { execa } from 'execa'
import { expect, onTestFinished, test } from 'vitest'
import { createSettings } from '../../../plugins/settings/service.ts'
import { findPaths } from '../../../src/paths.ts'
import { bundled } from '../../support/bundled.ts'
import { giveToOther, withoutRoot } from '../../support/hostile/other-user.ts'
import { series } from '../../support/series.ts'

const program = bundled(new URL('./writer-program.ts', import.meta.url))

async function userHome() {
  const home = await mkdtemp(join(tmpdir(), 'keelson-settings-'))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  const settings = createSettings({ paths: findPaths({ HOME: home }) })
  const write = async (text: string) => {
    await mkdir(dirname(settings.path), { recursive: true })
    await writeFile(settings.path, text)
  }
  return { home, settings, write }
}

test('what is set is read again; the file is only for its owner', async () => {
  const { home, settings } = await userHome()

  await settings.change(() => ({ registry_url: 'https://example.com/r.json' }))

  const again = createSettings({ paths: findPaths({ HOME: home }) })
  expect(await again.get('registry_url')).toBe('https://example.com/r.json')
  expect((await stat(settings.path)).mode & 0o777).toBe(0o600)
})

test('a change keeps members that nobody here knows, and undefined takes one out', async () => {
  const { settings, write } = await userHome()
  await write('{"llm": {"a": [1]}, "registry_url": "https://a", "disable_usage_metrics": true}')

  await settings.change(() => ({ registry_url: undefined }))

  expect(JSON.parse(await readFile(settings.path, 'utf8'))).toEqual({
    llm: { a: [1] },
    disable_usage_metrics: true,
  })
})

test('a file that is not JSON is moved aside with its place named, and nothing replaces it', async () => {
  const { settings, write } = await userHome()
  await write('{\n  "registry_url": oops\n}')

  await expect(settings.get('registry_url')).rejects.toMatchObject({
    code: 'settings_unreadable',
    message: expect.stringContaining('line 2, column 19'),
  })

  const [left, ...more] = await readdir(dirname(settings.path))
  expect(more).toEqual([])
  expect(left).toMatch(/^config\.json\.unreadable-/)
  expect(await readFile(join(dirname(settings.path), left ?? ''), 'utf8')).toContain('oops')
  expect(await settings.get('registry_url')).toBeUndefined()
})

test('a change of an unreadable file fails and loses nothing', async () => {
  const { settings, write } = await userHome()
  await write('[1, 2]')

  await expect(settings.change(() => ({ registry_url: 'https://a' }))).rejects.toMatchObject({
    code: 'settings_unreadable',
    message: expect.stringContaining('it holds no JSON object'),
  })

  const [left] = await readdir(dirname(settings.path))
  expect(await readFile(join(dirname(settings.path), left ?? ''), 'utf8')).toBe('[1, 2]')
})

test('a member of a wrong shape is named, harms no other member, and can be replaced', async () => {
  const { settings, write } = await userHome()
  await write('{"build_env": {"A": 1}, "ca_certificate_path": "/ca.pem"}')

  await expect(settings.get('build_env')).rejects.toMatchObject({
    code: 'invalid_file',
    message: expect.stringContaining('build_env.A'),
  })
  expect(await settings.get('ca_certificate_path')).toBe('/ca.pem')
  await settings.change(() => ({ build_env: { A: '1' } }))
  expect(await settings.get('build_env')).toEqual({ A: '1' })
})

test('what the decision throws leaves the file as it was', async () => {
  const { settings, write } = await userHome()
  await write('{"registry_url": "https://a"}')

  const change = settings.change(() => {
    throw new Error('no')
  })

  await expect(change).rejects.toThrow('no')
  expect(await settings.get('registry_url')).toBe('https://a')
})

test('a folder that cannot be written fails instead of pretending', async () => {
  const { home, settings, write } = await userHome()
  await write('{"registry_url": "https://kept"}')
  await giveToOther(home)
  await chmod(dirname(settings.path), 0o500)
  onTestFinished(() => chmod(dirname(settings.path), 0o700))

  const ended = execa(process.execPath, [program, home, 'A', '1'], { ...withoutRoot(), reject: false })

  expect(await ended).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('EACCES') })
  expect(await settings.get('registry_url')).toBe('https://kept')
  expect(await settings.get('build_env')).toBeUndefined()
})

test('two processes that write at once lose nothing', async () => {
  const { home, settings } = await userHome()

  await Promise.all(['A', 'B'].map(writer => execa(process.execPath, [program, home, writer, '40'])))

  expect(Object.keys((await settings.get('build_env')) ?? {})).toHaveLength(80)
})

test('a writer killed at any moment leaves a whole file that others can write', async () => {
  const { home, settings, write } = await userHome()
  await write('{"registry_url": "https://kept"}')
  let written = 0

  for (let round = 0; round < series({ usual: 5, long: 60 }); round++) {
    const child = execa(process.execPath, [program, home, `R${round}`, '100000'], { reject: false })
    await once(child.stdout, 'data')
    const before = await size(settings.path)
    while ((await size(settings.path)) === before) await new Promise(setImmediate)
    child.kill('SIGKILL')
    await child
    expect(await settings.get('registry_url')).toBe('https://kept')
    const now = Object.keys((await settings.get('build_env')) ?? {}).length
    expect(now).toBeGreaterThan(written)
    written = now
  }

  await settings.change(() => ({ registry_url: undefined }))
  expect(await settings.get('registry_url')).toBeUndefined()
})

const size = async (path: string) => (await stat(path)).size
