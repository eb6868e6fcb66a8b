import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Home, openHome } from '../e2e/home.ts'
import { startApi } from '../support/api-server.ts'
import { type Canary, makeCanary, recordEnvironment } from '../support/hostile/canary.ts'
import { type NpmPackage, npmIndex } from '../support/hostile/npm-index.ts'
import { type PypiProject, pypiIndex } from '../support/hostile/pypi-index.ts'
import { needs } from '../support/left-out.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const repository = new URL('../..', import.meta.url).pathname
const server = await readFile(join(repository, 'fixtures/hostile/server.js'), 'utf8')
const pythonServer = await readFile(join(repository, 'fixtures/hostile/server.py'), 'utf8')
const real = (program: string): string => execFileSync('which', [program], { encoding: 'utf8' }).trim()

const SECRETS = {
  AWS_SECRET_ACCESS_KEY: 'hush-aws',
  GITHUB_TOKEN: 'hush-github',
  GIT_TOKEN: 'hush-git',
  KEELSON_SECRETS_PASSWORD: 'hush-keelson',
  NPM_TOKEN: 'hush-npm',
  OP_SERVICE_ACCOUNT_TOKEN: 'hush-op',
}

let home: Home
let canary: Canary
beforeAll(async () => {
  home = await openHome()
  canary = await makeCanary(home.path)
})
afterEach(async () => {
  if (existsSync(join(home.path, '.local/state/keelson/runconfigs/hostile.json'))) {
    await home.keelson(['rm', 'hostile'])
  }
  await canary.expectUntouched()
})
afterAll(() => home.close(), 120_000)

/** An npm registry of these packages, and the variables that make npm use it. */
async function npmWith(...packages: readonly NpmPackage[]) {
  const index = await npmIndex(packages)
  onTestFinished(() => index.close())
  return { ...index, env: { npm_config_registry: `${index.url}/`, npm_config_fetch_retries: '0' } }
}

/** A PyPI index of these projects, and the variables that make pip and uv use it. */
async function pypiWith(...projects: readonly PypiProject[]) {
  const index = await pypiIndex(projects)
  onTestFinished(() => index.close())
  return { ...index, env: { PIP_INDEX_URL: index.simple, UV_DEFAULT_INDEX: index.simple } }
}

const run = (image: string, env: Record<string, string>) =>
  home.keelson(['run', image, '--name', 'hostile', '--runtime', 'process'], { env })

/** A package that runs as a server. */
const good = (name: string, more: Partial<NpmPackage> = {}): NpmPackage => ({
  name,
  manifest: { bin: 'server.js', ...more.manifest },
  files: { 'server.js': server, ...more.files },
})

/** A source distribution that needs nothing to be built, and whose build leaves a trace. */
const builder = (name: string): PypiProject => ({
  name,
  kind: 'sdist',
  files: {
    'pyproject.toml': '[build-system]\nrequires = []\nbuild-backend = "trap"\nbackend-path = ["."]\n',
    'trap.py': canary.python,
    'setup.py': canary.python,
  },
})

describe('npx://', { timeout: 120_000 }, () => {
  test('a package installs and runs; its scripts do not, and it holds no links', async () => {
    const scripts = Object.fromEntries(
      ['preinstall', 'install', 'postinstall', 'prepare'].map(name => [name, canary.shell]),
    )
    const { env } = await npmWith(
      good('scripted', {
        manifest: { scripts, dependencies: { leaf: '^1.0.0' } },
        files: { soft: { symbolic: canary.folder }, hard: { hard: '/etc/hostname' } },
      }),
      { name: 'leaf', manifest: { scripts }, entries: { '../../../../../../canary/ran': 'up' } },
    )

    const ran = await run('npx://scripted', env)

    expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining('scripts were not run') })
    const packages = join(home.path, '.cache/keelson/packages')
    const entries = await readdir(packages, { recursive: true, withFileTypes: true })
    expect(entries.filter(entry => entry.isSymbolicLink())).toEqual([])
  })

  test.each<[string, (elsewhere: string) => string]>([
    ['git', () => `git+file://${home.path}/repository`],
    ['git over http', elsewhere => `git+${elsewhere}/x.git`],
    ['a remote file', elsewhere => `${elsewhere}/x.tgz`],
    ['a folder', () => `file:${home.path}/canary`],
    ['a link', () => `link:${home.path}/canary`],
    ['a path', () => '../../canary'],
    ['an alias of a remote file', elsewhere => `npm:x@${elsewhere}/x.tgz`],
  ])('a dependency from %s is refused at any depth, and nothing is asked of others', async (_, spec) => {
    const elsewhere = await npmWith({ name: 'x' })
    const wanted = { x: spec(elsewhere.url) }
    const { env } = await npmWith(
      good('direct', { manifest: { dependencies: wanted } }),
      good('deep', { manifest: { dependencies: { middle: '1.0.0' } } }),
      { name: 'middle', manifest: { optionalDependencies: wanted } },
    )

    for (const image of ['npx://direct@1.0.0', 'npx://deep@1.0.0']) {
      const { code, stderr } = await run(image, env)
      expect(stderr).toMatch(/could not be installed/)
      expect(code).toBe(1)
    }

    expect(elsewhere.asked).toEqual([])
    expect(await home.ok(['list'])).not.toContain('hostile')
  })

  test('an archive that the registry places elsewhere is not fetched', async () => {
    const elsewhere = await npmWith(good('away'))
    const { env } = await npmWith({ ...good('away'), tarballUrl: elsewhere.tarballUrl('away') })

    const { code, stderr } = await run('npx://away@1.0.0', env)

    expect(stderr).toContain(`comes from ${elsewhere.tarballUrl('away')}`)
    expect(code).toBe(1)
    expect(elsewhere.asked).toEqual([])
  })

  test.each(['../../../evil.js', '../leaf/server.js', '/bin/sh'])('the program %s is refused', async bin => {
    const { env } = await npmWith(
      { name: 'climber', manifest: { bin, dependencies: { leaf: '1.0.0' } } },
      good('leaf'),
    )

    const { code, stderr } = await run('npx://climber@1.0.0', env)

    expect(stderr).toContain('not a file inside the package')
    expect(code).toBe(1)
  })

  test('over HTTP the same package is refused, and leaves nothing', async () => {
    const { env } = await npmWith(
      good('direct', { manifest: { dependencies: { x: `git+file://${home.path}/repository` } } }),
    )
    const user = {
      home: home.path,
      env: { ...home.env, ...env, KEELSON_RUNTIME: 'process' },
      run: home.keelson,
    }
    const api = await startApi({ user })

    const created = await api.ask('POST', '/api/v1beta/workloads', {
      name: 'hostile',
      image: 'npx://direct@1.0.0',
    })

    expect(created.text).toContain('could not be installed')
    expect(created.status).toBeGreaterThanOrEqual(400)
  })
})

describe('uvx://', { timeout: 240_000 }, () => {
  test('a wheel with a .pth file and a python of its own runs nothing on this host', async () => {
    const { env } = await pypiWith({
      name: 'tiny_time',
      scripts: ['tiny-time = tiny_time:main'],
      files: {
        'tiny_time.py': pythonServer,
        'trap.pth': `import os; ${canary.python}\n`,
        'tiny_time-1.0.0.data/scripts/python': `#!/bin/sh\n${canary.shell}\n`,
      },
    })

    expect((await run('uvx://tiny-time', env)).stderr).toContain('Installing tiny-time')

    await canary.expectUntouched()
  })

  test('an ordinary wheel installs and runs', async () => {
    const { env } = await pypiWith({
      name: 'tiny_good',
      scripts: ['tiny-good = tiny_good:main'],
      files: { 'tiny_good.py': pythonServer },
    })

    expect(await run('uvx://tiny-good', env)).toMatchObject({ code: 0 })
  })

  test('a source distribution is not built', async () => {
    const { env } = await pypiWith(builder('built'))
    const { code, stderr } = await run('uvx://built@1.0.0', env)
    expect(stderr).toContain('could not be installed')
    expect(code).toBe(1)
  })

  test('a requirement by address is refused, from the index itself too, and not built', async () => {
    const index = await pypiWith(builder('trap'))
    const { env } = await pypiWith({
      name: 'by_address',
      requires: [`trap @ ${index.fileUrl('trap')}`],
      scripts: ['by-address = x:y'],
    })
    const both = { ...env, PIP_EXTRA_INDEX_URL: index.simple, UV_INDEX: index.simple }

    const { code, stderr } = await run('uvx://by-address@1.0.0', both)

    expect(stderr).toContain('could not be installed')
    expect(code).toBe(1)
  })

  test('a program named like a path is refused', async () => {
    const { env } = await pypiWith({ name: 'climber', scripts: ['../../../../ran = climber:main'] })
    const { code, stderr } = await run('uvx://climber@1.0.0', env)
    expect(stderr).toContain('could not be installed')
    expect(code).toBe(1)
  })

  test('a Python whose folder holds the home is refused before anything is installed', async () => {
    const { env, asked } = await pypiWith({ name: 'tiny', scripts: ['tiny = tiny:main'] })
    const bin = await temporaryFolder()
    const python = join(bin, 'python3')
    await writeFile(python, `#!/bin/sh\necho '["${python}", "${tmpdir()}"]'\n`)
    await chmod(python, 0o755)

    const { code, stderr } = await run('uvx://tiny@1.0.0', { ...env, PATH: `${bin}:/usr/bin:/bin` })

    expect(stderr).toContain('contains your home')
    expect(code).toBe(1)
    expect(asked).toEqual([])
  })
})

describe('what is around', { timeout: 120_000 }, () => {
  test('settings that others leave in the temporary folder are not read', async () => {
    const others = await npmWith(good('tiny'))
    const shared = await temporaryFolder()
    await chmod(shared, 0o777)
    const settings = {
      'package.json': '{}',
      '.npmrc': `registry=${others.url}/\n`,
      'pip.conf': `[global]\nindex-url=${others.url}\n`,
      'uv.toml': `index-url = "${others.url}"\n`,
    }
    for (const [name, text] of Object.entries(settings)) await writeFile(join(shared, name), text)
    const { url } = await npmWith(good('tiny'))
    await writeFile(join(home.path, '.npmrc'), `registry=${url}/\n`)

    const { code } = await run('npx://tiny', { TMPDIR: shared })
    await run('uvx://tiny', { TMPDIR: shared, PIP_INDEX_URL: url, UV_DEFAULT_INDEX: url })
    await writeFile(join(home.path, '.npmrc'), '')

    expect(code).toBe(0)
    expect(others.asked).toEqual([])
  })

  test.each(['npm', 'python3', 'go'])('%s sees neither our secrets nor tokens of others', async program => {
    const where = await temporaryFolder()
    const path = `/usr/bin:/bin:${join(real(program), '..')}`
    const { PATH, file } = await recordEnvironment(where, program, { real: real(program), path })
    const index = await npmWith(good('tiny-environment'))
    const env = { ...index.env, ...SECRETS, PATH, PIP_INDEX_URL: index.url, GOPROXY: index.url }

    const image = { npm: 'npx://tiny-environment', python3: 'uvx://x', go: 'go://example.com/x/y' }[program]
    await run(String(image), env)

    const seen = await readFile(file, 'utf8')
    expect(seen).toContain('PATH=')
    expect(seen).not.toContain('hush-')
  })

  test('in the sandbox a tool sees nothing else of the home', async context => {
    const { status } = spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-pid', 'true'])
    needs(context, status === 0 ? undefined : 'bubblewrap does not work here')
    const bin = await temporaryFolder()
    await mkdir(join(home.path, '.ssh'), { recursive: true })
    await writeFile(join(home.path, '.ssh/id'), 'a private key')
    const look = `cat ${home.path}/.ssh/id; ls -A ${home.path} | tr '\\n' ' '; ${canary.shell}`
    await writeFile(join(bin, 'npm'), `#!/bin/sh\nPATH=/usr/bin:/bin\n(${look}) >&2\nexit 1\n`)
    await chmod(join(bin, 'npm'), 0o755)

    const { stderr } = await run('npx://x@1.0.0', { PATH: `${bin}:/usr/bin:/bin` })

    expect(stderr).toMatch(/could not be installed: .*\.cache/)
    expect(stderr).not.toContain('a private key')
    expect(stderr).not.toContain('.local')
  })
})

describe('plugin add', { timeout: 120_000 }, () => {
  const add = (source: string, env: Record<string, string>) =>
    home.keelson(['plugin', 'add', source, '--yes'], { env })

  const plugin = (name: string, dependencies: Record<string, string>): NpmPackage => ({
    name,
    manifest: { keelson: { apiVersion: 1, entry: './index.js' }, type: 'module', dependencies },
    files: { 'index.js': `export default { name: '${name}' }\n` },
  })

  test.each([
    ['git', () => `git+file://${home.path}/repository`],
    ['a folder', () => `file:${home.path}/canary`],
    ['a remote file', () => 'http://127.0.0.1:9/x.tgz'],
  ])('a plugin that needs %s, itself or further down, is refused', async (_, spec) => {
    const { env } = await npmWith(plugin('one', { x: spec() }), plugin('two', { middle: '1.0.0' }), {
      name: 'middle',
      manifest: { dependencies: { x: spec() } },
    })
    for (const source of ['one', 'two']) {
      const { code, stderr } = await add(source, env)
      expect(stderr).toContain(`npm could not install "${source}"`)
      expect(code).toBe(1)
    }
  })

  test("a folder's own settings of npm, scripts and links do not count", async () => {
    const others = await npmWith({ name: 'leaf' })
    const { env } = await npmWith({ name: 'leaf', manifest: { scripts: { install: canary.shell } } })
    const folder = join(home.path, 'folder-plugin')
    await mkdir(folder)
    const { manifest } = plugin('folder-plugin', { leaf: '1.0.0' })
    const document = { name: 'folder-plugin', version: '1.0.0', ...manifest, workspaces: ['w'] }
    const trap = `registry=${others.url}/\nignore-scripts=false\nscript-shell=/bin/sh\n`
    await writeFile(join(folder, 'package.json'), JSON.stringify(document))
    await writeFile(join(folder, 'index.js'), "import 'leaf'\n")
    await writeFile(join(folder, '.npmrc'), trap)

    expect(await add('./folder-plugin', env)).toMatchObject({ code: 0 })

    expect(others.asked).toEqual([])
    await home.ok(['plugin', 'remove', 'folder-plugin'])
  })
})
