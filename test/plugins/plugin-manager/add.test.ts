import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type NpmPackage, npmIndex } from '../../support/hostile/npm-index.ts'
import { type KeelsonUser, keelsonUser } from '../../support/keelson.ts'
import { helloCode, writePlugin } from './plugin-folder.ts'

const installed = (user: KeelsonUser) => readdir(join(user.home, '.local/share/keelson/plugins'))

test('add shows name, version, source, commands, contributions and permissions before it asks', async () => {
  const user = await keelsonUser()
  const folder = await writePlugin(join(user.home, 'p'), {
    keelson: { provides: ['runtimes'], permissions: ['reads your mail'] },
  })

  const { code, stderr, stdout } = await user.run(['plugin', 'add', './p'])

  for (const fact of ['hello-plugin 1.0.0', folder, 'hello: say hello', 'runtimes', 'reads your mail'])
    expect(stderr).toContain(fact)
  expect(stderr).toContain('Add --yes to agree.')
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(await installed(user)).toEqual([])
})

/** A registry with the package `leaf`, and the variables that make npm use it. */
async function registryWithLeaf(leaf: Partial<NpmPackage>) {
  const index = await npmIndex([{ name: 'leaf', ...leaf }])
  onTestFinished(() => index.close())
  return { npm_config_registry: index.url }
}

test('add runs no code of the plugin', async () => {
  const user = await keelsonUser()
  const trap = `require('node:fs').writeFileSync('${user.home}/ran', '')`
  await writePlugin(join(user.home, 'p'), {
    code: `import { writeFileSync } from 'node:fs'; writeFileSync('${user.home}/ran', '')`,
    package: {
      scripts: {
        preinstall: 'node trap.cjs',
        install: 'node trap.cjs',
        postinstall: 'node trap.cjs',
        prepare: 'node trap.cjs',
      },
      dependencies: { leaf: '1.0.0' },
    },
    files: { 'trap.cjs': trap },
  })
  const env = await registryWithLeaf({
    manifest: { scripts: { postinstall: 'node trap.cjs', prepare: 'node trap.cjs' } },
    files: { 'trap.cjs': trap },
  })

  const added = await user.run(['plugin', 'add', './p', '--yes'], { env })
  await user.run(['plugin', 'list'])
  await user.run(['--help'])

  expect(added).toMatchObject({ code: 0 })
  expect(await readdir(user.home)).not.toContain('ran')
})

test('the packages that a folder needs are installed with it', async () => {
  const user = await keelsonUser()
  await writePlugin(join(user.home, 'p'), {
    package: { dependencies: { leaf: '1.0.0' } },
    code: `import { word } from 'leaf'\n${helloCode('').replace('""', 'word')}`,
    files: { 'node_modules/leaf/index.js': 'throw new Error("what lay here before is not copied")' },
  })
  const env = await registryWithLeaf({
    manifest: { type: 'module', exports: './index.js' },
    files: { 'index.js': 'export const word = "from a leaf"' },
  })

  await user.run(['plugin', 'add', './p', '--yes'], { env })

  expect(await user.run(['hello'])).toEqual({ code: 0, stdout: 'from a leaf\n', stderr: '' })
})

test('a packed plugin (.tgz) is installed by npm', async () => {
  const user = await keelsonUser()
  const folder = await writePlugin(join(user.home, 'p'))
  const { execa } = await import('execa')
  await execa('npm', ['pack', '--pack-destination', user.home], { cwd: folder })

  const added = await user.run(['plugin', 'add', './hello-plugin-1.0.0.tgz', '-y'])

  expect(added).toMatchObject({ code: 0 })
  expect(await user.run(['hello'])).toEqual({ code: 0, stdout: 'hello\n', stderr: '' })
})

test('adding again replaces the plugin and says what it replaces', async () => {
  const user = await keelsonUser()
  const folder = join(user.home, 'p')
  await writePlugin(folder)
  await user.run(['plugin', 'add', './p', '--yes'])
  await writePlugin(folder, { version: '2.0.0', code: helloCode('hello again') })

  const { stderr } = await user.run(['plugin', 'add', './p', '--yes'])

  expect(stderr).toContain('Replaces:    1.0.0')
  expect((await user.run(['hello'])).stdout).toBe('hello again\n')
  expect(await installed(user)).toHaveLength(2) // one folder and the lock file
})

const refusals: [string, Parameters<typeof writePlugin>[1], RegExp][] = [
  ['no manifest', { keelson: null }, /no member `keelson`/],
  ['an API of the future', { keelson: { apiVersion: 99 } }, /plugin API 99; this keelson offers 1/],
  ['an API that is no number', { keelson: { apiVersion: '1' } }, /apiVersion/],
  ['no entry', { keelson: { entry: undefined } }, /entry/],
  ['an entry outside the package', { keelson: { entry: '../../x.js' } }, /outside the package/],
  ['a contribution that does not exist', { keelson: { provides: ['wings'] } }, /provides/],
  ['a verb that is no word', { keelson: { verbs: { '--help': 'x' } } }, /cannot be a verb/],
  ['a verb of keelson', { keelson: { verbs: { version: 'x' } } }, /command "version" belongs to keelson/],
  ['the verb help', { keelson: { verbs: { help: 'x' } } }, /command "help" belongs to keelson/],
  ['the name of a built-in plugin', { name: 'version' }, /name "version" belongs to/],
  ['a name that climbs out', { name: '../up' }, /no valid `name`/],
  ['no version', { version: '' }, /no `version`/],
]
test.each(refusals)('a plugin with %s is refused', async (_, plugin, reason) => {
  const user = await keelsonUser()
  await writePlugin(join(user.home, 'p'), plugin)

  const { code, stderr } = await user.run(['plugin', 'add', './p', '--yes'])

  expect(stderr).toMatch(reason)
  expect(stderr).not.toContain('defect')
  expect(code).toBe(1)
  expect(await installed(user)).toEqual([])
})

test('a plugin with a verb of another added plugin is refused', async () => {
  const user = await keelsonUser()
  await writePlugin(join(user.home, 'p'))
  await writePlugin(join(user.home, 'q'), { name: 'other' })
  await user.run(['plugin', 'add', './p', '--yes'])

  const { code, stderr } = await user.run(['plugin', 'add', './q', '--yes'])

  expect(code).toBe(1)
  expect(stderr).toContain('the command "hello" belongs to the plugin "hello-plugin"')
})

test('a link out of the folder is refused, since its target could change unseen', async () => {
  const user = await keelsonUser()
  const folder = await writePlugin(join(user.home, 'p'))
  await symlink('/etc/hostname', join(folder, 'host'))

  const { code, stderr } = await user.run(['plugin', 'add', './p', '--yes'])

  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('host is a link') })
})

test.each([
  ['./nowhere', 'nowhere does not exist'],
  ['git+https://example.com/x.git', 'addresses are not taken'],
  ['file', 'neither'],
])('the source %s is refused', async (source, reason) => {
  const user = await keelsonUser()
  await writeFile(join(user.home, 'file'), '')

  const { code, stderr } = await user.run(['plugin', 'add', source === 'file' ? './file' : source, '--yes'])

  expect(code).toBe(1)
  expect(stderr).toContain(reason)
})

test('a folder without package.json is refused', async () => {
  const user = await keelsonUser()
  await mkdir(join(user.home, 'p'))

  const { code, stderr } = await user.run(['plugin', 'add', './p', '--yes'])

  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('no package.json') })
})

test('without npm a plugin that needs packages is refused, one that needs none is added', async () => {
  const user = await keelsonUser()
  await writePlugin(join(user.home, 'p'), { package: { dependencies: { leaf: '1.0.0' } } })
  await writePlugin(join(user.home, 'q'))
  const env = { PATH: user.home }

  const needy = await user.run(['plugin', 'add', './p', '--yes'], { env })
  const modest = await user.run(['plugin', 'add', './q', '--yes'], { env })

  expect(needy).toMatchObject({ code: 1, stderr: expect.stringContaining('npm is needed') })
  expect(modest).toMatchObject({ code: 0 })
})

test('a package that npm cannot get is an error in plain words, and leaves nothing behind', async () => {
  const user = await keelsonUser()
  await writePlugin(join(user.home, 'p'), { package: { dependencies: { leaf: '1.0.0' } } })
  const env = { npm_config_registry: 'http://127.0.0.1:1/', npm_config_fetch_retries: '0' }

  const { code, stderr } = await user.run(['plugin', 'add', './p', '--yes'], { env })

  expect(code).toBe(1)
  expect(stderr).toContain('the package registry does not respond')
  expect(await installed(user)).toEqual([])
})

test('a package that would come straight from git is refused', async () => {
  const user = await keelsonUser()
  const dependencies = { leaf: `git+file://${user.home}/repository` }
  await writePlugin(join(user.home, 'p'), { package: { dependencies } })

  const { code, stderr } = await user.run(['plugin', 'add', './p', '--yes'])

  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('straight from git') })
})

test('text of a manifest cannot steer the terminal', async () => {
  const user = await keelsonUser()
  await writePlugin(join(user.home, 'p'), { keelson: { permissions: ['none\u001b[2K\rharmless'] } })

  const { stderr } = await user.run(['plugin', 'add', './p'])

  expect(stderr).not.toContain('\u001b')
  expect(stderr).toContain('none harmless')
})

test('a plugin that is removed is gone, with its files', async () => {
  const user = await keelsonUser()
  await writePlugin(join(user.home, 'p'))
  await user.run(['plugin', 'add', './p', '--yes'])

  expect(await user.run(['plugin', 'remove', 'hello-plugin'])).toEqual({ code: 0, stdout: '', stderr: '' })

  expect(await user.run(['hello'])).toMatchObject({ code: 2 })
  expect(await installed(user)).toEqual(['plugins.lock.json'])
})

test('a plugin that was never added cannot be removed; the nearest name is shown', async () => {
  const user = await keelsonUser()
  await writePlugin(join(user.home, 'p'))
  await user.run(['plugin', 'add', './p', '--yes'])

  const { code, stderr } = await user.run(['plugin', 'remove', 'helo-plugin'])

  expect(code).toBe(1)
  expect(stderr).toContain('Did you mean "hello-plugin"?')
})

test('the lock file names version, source, integrity and is for its owner only', async () => {
  const user = await keelsonUser()
  const folder = await writePlugin(join(user.home, 'p'))
  await user.run(['plugin', 'add', './p', '--yes'])

  const path = join(user.home, '.local/share/keelson/plugins/plugins.lock.json')
  const { stat } = await import('node:fs/promises')

  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({
    lockVersion: 1,
    plugins: [
      {
        name: 'hello-plugin',
        version: '1.0.0',
        source: folder,
        integrity: expect.stringMatching(/^sha512-/),
      },
    ],
  })
})
