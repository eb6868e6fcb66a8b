import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest'
import { needs } from '../support/left-out.ts'
import { clientV1, textOf } from './clients.ts'
import { type Home, openHome, until } from './home.ts'

// The package as others get it: packed, installed into an empty prefix, run from there.
const repository = new URL('../..', import.meta.url).pathname

let home: Home
beforeAll(async () => {
  home = await openHome()
})
afterAll(async () => {
  if (existsSync(installed())) await run(installed(), ['rm', '--all'])
  await home.close()
}, 120_000)

const prefix = () => join(home.path, 'prefix')
const installed = () => join(prefix(), 'bin', 'keelson')
/** This Node first: another one on PATH may be too old. */
const env = () => ({ ...home.env, PATH: `${dirname(process.execPath)}${delimiter}${home.env.PATH}` })
const run = (program: string, args: readonly string[], cwd = home.path) =>
  execa(program, args, { cwd, env: env(), extendEnv: false, stdin: 'ignore' })

interface Packed {
  readonly filename: string
  readonly files: readonly { path: string }[]
}
const onlyOnce = <T>(make: () => Promise<T>) => {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}
/** Packs the project, once for all tests. */
const pack = onlyOnce(async () => {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', home.path]
  return (JSON.parse((await run('npm', args, repository)).stdout) as [Packed])[0]
})
/** Installs the package, once for all tests. */
const install = onlyOnce(async () => {
  const { filename } = await pack()
  await run('npm', ['install', '--global', '--prefix', prefix(), join(home.path, filename)])
})
const needsBuild = (context: TestContext) =>
  needs(
    context,
    existsSync(join(repository, 'dist/main.js')) ? undefined : 'there is no build (npm run build)',
  )

test('it holds the program and its types, and no sources or tests', { timeout: 120_000 }, async context => {
  needsBuild(context)
  const paths = (await pack()).files.map(({ path }) => path)
  for (const wanted of [
    'package.json',
    'README.md',
    'LICENSE',
    'CHANGELOG.md',
    'dist/main.js',
    'dist/plugin-api.mjs',
    'dist/page/index.html',
    'dist/page/main.js',
  ]) {
    expect(paths).toContain(wanted)
  }
  expect(
    paths.filter(path => !/^(dist\/|package\.json$|README\.md$|LICENSE$|CHANGELOG\.md$)/.test(path)),
  ).toEqual([])
  expect(paths.filter(path => /\.ts$/.test(path) && !/\.d\.ts$/.test(path))).toEqual([])
})

test('it installs into an empty prefix and runs there', { timeout: 300_000 }, async context => {
  needsBuild(context)
  await install()
  const { version } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')) as {
    version: string
  }
  expect((await run(installed(), ['version'])).stdout).toContain(version)
  expect(await readdir(join(prefix(), 'lib/node_modules'))).toContain('keelson')

  // The installed program, not `node main.js`: there Node itself would read the flag, and end with words of its own.
  const missing = await execa(installed(), ['run', 'x', '--env-file', '/no/such/file'], {
    env: env(),
    extendEnv: false,
    reject: false,
  })
  expect(missing).toMatchObject({ exitCode: 1, stdout: '' })
  expect(missing.stderr).toMatch(/^Error: .*--env-file.*\/no\/such\/file/)

  const everything = 'npx://@modelcontextprotocol/server-everything@2026.8.31'
  const args = ['run', everything, '--name', 'e2e-packed', '--runtime', 'process']
  const url = (await run(installed(), args)).stdout
  const client = await clientV1(url)
  expect(textOf(await client.callTool({ name: 'echo', arguments: { message: 'packed' } }))).toContain(
    'packed',
  )
  const { stdout } = await run(installed(), ['list', '--format', 'json'])
  expect(JSON.parse(stdout)).toMatchObject([{ name: 'e2e-packed', status: 'running', url }])
  await run(installed(), ['rm', 'e2e-packed'])
})

test('the installed program shows its page', { timeout: 300_000 }, async context => {
  needsBuild(context)
  await install()
  const serving = execa(installed(), ['serve', '--ui', '--port', '0'], {
    cwd: home.path,
    env: env(),
    extendEnv: false,
    stdin: 'ignore',
    reject: false,
  })
  try {
    const [url] = await once(createInterface({ input: serving.stdout }), 'line')
    const page = await (await fetch(`${url}/`)).text()
    const parts = [...page.matchAll(/(?:src|href)="(\/[^"]*)"/g)].map(([, path]) => path)
    const program = await (await fetch(`${url}/ui/main.js`)).text()
    expect(program.length).toBeGreaterThan(10_000)
    expect(program).not.toMatch(/\bfrom ?(["'])[\w@./-]+\1/)
    expect(parts.length).toBeGreaterThan(1)
    for (const path of parts) expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 200])
  } finally {
    serving.kill()
    await serving
  }
})

test('the quickstart calls a tool, and --clean takes it down again', { timeout: 300_000 }, async context => {
  needsBuild(context)
  const script = join(repository, 'scripts/quickstart.ts')
  const { stdout } = await execa(process.execPath, [script], {
    env: { ...env(), KEELSON_RUNTIME: 'process' },
    extendEnv: false,
  })
  expect(stdout).toMatch(/A real MCP server runs behind +http:\/\/127\.0\.0\.1:\d+\/mcp/)
  expect(stdout).toMatch(/returned +Echo: hello from keelson/)
  const url = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(stdout)?.[0] ?? ''
  const clean = await execa(process.execPath, [script, '--clean'], { env: env(), extendEnv: false })
  expect(clean.stdout).toContain('gone')
  await until(() => expect(fetch(url)).rejects.toThrow())
})
