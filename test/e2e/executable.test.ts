import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest'
import { needs } from '../support/left-out.ts'
import { type Home, openHome } from './home.ts'

// The executable of `npm run package`, on a machine folder that has neither the repository nor Node.
const repository = new URL('../..', import.meta.url).pathname
const EVERYTHING = 'npx://@modelcontextprotocol/server-everything@2026.8.31'

let home: Home
beforeAll(async () => {
  home = await openHome()
})
afterAll(async () => {
  if (existsSync(executable())) await run(['rm', '--all'])
  await home.close()
}, 120_000)

const executable = () => join(home.path, 'own', 'keelson')
const tools = () => join(home.path, 'tools')
const calls = () => join(home.path, 'calls-of-node')
const run = (args: readonly string[]) =>
  execa(executable(), args, {
    cwd: home.path,
    env: { ...home.env, PATH: `${tools()}:/usr/bin:/bin` },
    extendEnv: false,
    stdin: 'ignore',
    reject: false,
  })
const needsBuild = (context: TestContext) =>
  needs(
    context,
    process.platform !== 'linux'
      ? 'the executable is made on Linux'
      : existsSync(join(repository, 'dist/main.js'))
        ? undefined
        : 'there is no build (npm run build)',
  )

/** What stands for Node and its tools on PATH: each notes that it was called, and fails as a missing program does. */
async function hideNode(): Promise<void> {
  await mkdir(tools(), { recursive: true })
  for (const name of ['node', 'npm', 'npx']) {
    const script = `#!/bin/sh\necho "$0 $*" >> ${JSON.stringify(calls())}\nexit 127\n`
    await writeFile(join(tools(), name), script, { mode: 0o755 })
  }
}

test('the executable passes the quickstart where no Node is', { timeout: 600_000 }, async context => {
  needsBuild(context)
  const npm = execFileSync('sh', ['-c', 'readlink -f "$(command -v npm)"'], { encoding: 'utf8' }).trim()
  const folder = join(home.path, 'release')
  await execa(process.execPath, [join(repository, 'scripts/package.ts'), folder], {
    env: { npm_execpath: npm },
  })
  const name = (await readdir(folder)).find(file => !file.endsWith('.sha256')) ?? ''
  expect(name).toMatch(/^keelson-\d+\.\d+\.\d+-linux-(x64|arm64)$/)
  execFileSync('sha256sum', ['--check', `${name}.sha256`], { cwd: folder })
  await mkdir(dirname(executable()), { recursive: true })
  await copyFile(join(folder, name), executable())
  await hideNode()

  // Two first starts at the same time extract the same program.
  const [first, second] = await Promise.all([run(['version']), run(['version'])])
  expect([first.exitCode, second.exitCode], first.stderr + second.stderr).toEqual([0, 0])
  expect(first.stdout).toContain(name.split('-')[1])
  const programs = join(home.path, '.local/share/keelson/program')
  expect(await readdir(programs)).toHaveLength(1)

  const started = await run(['run', EVERYTHING, '--name', basename(folder), '--runtime', 'process'])
  expect(started.stdout, started.stderr).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/)
  const call = await run(['mcp', 'call', 'echo', '--server', 'release', '--args', '{"message":"no Node"}'])
  expect(call.stdout, call.stderr).toContain('no Node')
  const pid = await home.supervisor()
  expect(await readFile(`/proc/${pid}/cmdline`, 'utf8')).toContain(programs)
  expect(existsSync(calls())).toBe(false)
})

test('an executable that was cut off says so, and leaves nothing', { timeout: 120_000 }, async context => {
  needsBuild(context)
  const file = join(home.path, 'cut-off')
  execFileSync('sh', ['-c', 'head -c 1000000 "$1" > "$2" && chmod +x "$2"', 'sh', executable(), file])
  const data = join(home.path, 'other')
  const { exitCode, stderr } = await execa(file, ['version'], {
    env: { PATH: '/usr/bin:/bin', HOME: home.path, XDG_DATA_HOME: data },
    extendEnv: false,
    reject: false,
  })
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(/^Error: keelson could not be extracted to .*Is the file complete/m)
  expect(await readdir(join(data, 'keelson/program'))).toEqual([])
})
