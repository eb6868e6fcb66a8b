import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { createHiddenFiles } from '../../../plugins/hidden-files/service.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'

const config: RunConfig = { schema_version: 'v0.1.0', name: 'w', transport: 'stdio', port: 0 }

function folder(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'ignore-'))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

async function hidden(
  files: Record<string, string>,
  global?: string,
  of: RunConfig = config,
): Promise<string[]> {
  const hiddenFiles = createHiddenFiles({
    paths: { config: folder(global === undefined ? {} : { ignore: global }) },
  })
  const found = await hiddenFiles.find(of, [{ source: folder(files), target: '/data', readOnly: false }])
  return found.map(path => `${path.target}${path.directory ? '/' : ''}`).sort()
}

test('nothing is hidden without an ignore file', async () => {
  expect(await hidden({ '.env': 'SECRET=1' })).toEqual([])
})

test('a name is hidden at every depth', async () => {
  const files = { '.keelsonignore': '.env\n', '.env': '', 'a/b/.env': '', 'a/env': '' }
  expect(await hidden(files)).toEqual(['/data/.env', '/data/.keelsonignore', '/data/a/b/.env'])
})

test('a folder is hidden whole, by one path', async () => {
  const files = { '.keelsonignore': 'secrets/\n', 'secrets/a': '', 'x/secrets/b': '' }
  expect(await hidden(files)).toEqual(['/data/.keelsonignore', '/data/secrets/', '/data/x/secrets/'])
})

test('a negated pattern shows a file again', async () => {
  const files = { '.keelsonignore': '*.pem\n!public.pem\n', 'key.pem': '', 'public.pem': '' }
  expect(await hidden(files)).toEqual(['/data/.keelsonignore', '/data/key.pem'])
})

test('the global file counts, unless it is switched off', async () => {
  const files = { id_rsa: '' }
  expect(await hidden(files, 'id_rsa\n')).toEqual(['/data/id_rsa'])
  expect(await hidden(files, 'id_rsa\n', { ...config, ignore_config: { loadGlobal: false } })).toEqual([])
})

test('a ToolHive ignore file in the folder counts too', async () => {
  expect(await hidden({ '.thvignore': 'token\n', token: '' })).toEqual(['/data/.thvignore', '/data/token'])
})

test('a mounted file that a pattern names stays: it was named on purpose', async () => {
  const root = folder({ '.env': '' })
  const hiddenFiles = createHiddenFiles({ paths: { config: folder({ ignore: '.env\n' }) } })
  const mount = { source: join(root, '.env'), target: '/app/.env', readOnly: true }
  expect(await hiddenFiles.find(config, [mount])).toEqual([])
})

test('links are not followed out of the mount', async () => {
  const outside = folder({ '.env': '' })
  const root = folder({ '.keelsonignore': '.env\n' })
  symlinkSync(outside, join(root, 'link'))
  const hiddenFiles = createHiddenFiles({ paths: { config: folder({}) } })
  expect(await hiddenFiles.find(config, [{ source: root, target: '/data', readOnly: true }])).toEqual([
    { target: '/data/.keelsonignore', directory: false },
  ])
})

test('a link that a pattern names hides what it leads to, in whichever mount', async () => {
  const root = folder({
    '.keelsonignore': '.env\nvault/\n',
    'config/real': 'SECRET',
    'store/key': '',
    kept: '',
  })
  const other = folder({ token: '' })
  symlinkSync('config/real', join(root, '.env'))
  symlinkSync('store', join(root, 'vault'))
  mkdirSync(join(root, 'sub'))
  symlinkSync(join(other, 'token'), join(root, 'sub', '.env'))
  const hiddenFiles = createHiddenFiles({ paths: { config: folder({}) } })
  const mounts = [
    { source: root, target: '/data', readOnly: false },
    { source: other, target: '/other', readOnly: true },
  ]
  const found = await hiddenFiles.find(config, mounts)
  expect(found.toSorted((a, b) => a.target.localeCompare(b.target))).toEqual([
    { target: '/data/.keelsonignore', directory: false },
    { target: '/data/config/real', directory: false },
    { target: '/data/store', directory: true },
    { target: '/other/token', directory: false },
  ])
})

test('a link that a pattern names is also read as a program inside reads it', async () => {
  const root = folder({ '.keelsonignore': 'secret\n' })
  const other = folder({ token: '' })
  symlinkSync('/other/token', join(root, 'secret'))
  const hiddenFiles = createHiddenFiles({ paths: { config: folder({}) } })
  const mounts = [
    { source: root, target: '/data', readOnly: false },
    { source: other, target: '/other', readOnly: true },
  ]
  expect(await hiddenFiles.find(config, mounts)).toEqual([
    { target: '/other/token', directory: false },
    { target: '/data/.keelsonignore', directory: false },
  ])
})

test('a link that a pattern names and that leads nowhere, out of all mounts or in a circle hides nothing', async () => {
  const root = folder({ '.keelsonignore': 'secret*\n' })
  symlinkSync('missing', join(root, 'secret1'))
  symlinkSync(folder({}), join(root, 'secret2'))
  symlinkSync('secret3', join(root, 'secret3'))
  symlinkSync('.', join(root, 'secret4'))
  const hiddenFiles = createHiddenFiles({ paths: { config: folder({}) } })
  expect(await hiddenFiles.find(config, [{ source: root, target: '/data', readOnly: false }])).toEqual([
    { target: '/data/.keelsonignore', directory: false },
  ])
})

test('what lies in a hidden folder is not hidden a second time', async () => {
  const root = folder({ '.keelsonignore': 'secrets/\nlink\n', 'secrets/key': '' })
  symlinkSync('secrets/key', join(root, 'link'))
  const hiddenFiles = createHiddenFiles({ paths: { config: folder({}) } })
  expect(await hiddenFiles.find(config, [{ source: root, target: '/data', readOnly: false }])).toEqual([
    { target: '/data/secrets', directory: true },
    { target: '/data/.keelsonignore', directory: false },
  ])
})

test('no ignore file shows again what another hides', async () => {
  const files = { '.keelsonignore': '.env\n!id_rsa\n', '.thvignore': '!*\n', '.env': '', id_rsa: '' }
  expect(await hidden(files, 'id_rsa\n')).toEqual([
    '/data/.env',
    '/data/.keelsonignore',
    '/data/.thvignore',
    '/data/id_rsa',
  ])
})

test('an ignore file is covered in every mount where it can be seen', async () => {
  const root = folder({ 'sub/.keelsonignore': '', 'sub/a': '' })
  const hiddenFiles = createHiddenFiles({ paths: { config: folder({}) } })
  const mounts = [
    { source: root, target: '/all', readOnly: false },
    { source: join(root, 'sub'), target: '/sub', readOnly: true },
  ]
  expect(await hiddenFiles.find(config, mounts)).toEqual([
    { target: '/all/sub/.keelsonignore', directory: false },
    { target: '/sub/.keelsonignore', directory: false },
  ])
})

test('an ignore file that is a link or a folder is refused where the server may write', async () => {
  const linked = folder({ rules: 'token\n', token: '' })
  symlinkSync('rules', join(linked, '.keelsonignore'))
  const hiddenFiles = createHiddenFiles({ paths: { config: folder({}) } })
  const find = (source: string, readOnly: boolean) =>
    hiddenFiles.find(config, [{ source, target: '/data', readOnly }])
  for (const source of [linked, folder({ '.thvignore/a': '' })]) {
    await expect(find(source, false)).rejects.toMatchObject({ code: 'ignore_no_file' })
  }
  expect(await find(linked, true)).toEqual([
    { target: '/data/token', directory: false },
    { target: '/data/rules', directory: false },
  ])
})
