import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withoutRoot } from '../support/hostile/other-user.ts'
import { keelsonUser } from '../support/keelson.ts'
import { type Home, openHome } from './home.ts'

// Whatever is wrong with a command line: one clear line on standard error that names it, exit code 1
// or 2, nothing on standard output, nothing left behind. No engine is needed for any of this.

let home: Home
let other: string
/** The program's temporary folder, so that nothing of other programs is counted. */
let temporary: string
let port = 0
const busy = createServer()

beforeAll(async () => {
  other = await mkdtemp(join(tmpdir(), 'keelson-e2e-bad-'))
  temporary = join(other, 'tmp')
  await mkdir(temporary)
  home = await openHome({ TMPDIR: temporary })
  await writeFile(join(other, 'broken.json'), '{"name": ')
  await writeFile(join(other, 'nameless.json'), '{"transport":"stdio","image":"x"}')
  await writeFile(join(other, 'imageless.json'), '{"name":"x","transport":"stdio"}')
  await writeFile(
    join(other, 'next.json'),
    '{"schema_version":"v9","name":"x","transport":"stdio","image":"x"}',
  )
  await writeFile(join(other, 'broken.env'), 'A=1\nno value here\n')
  await mkdir(join(other, 'folder'))
  await new Promise<void>(resolve => busy.listen(0, '127.0.0.1', resolve))
  const address = busy.address()
  port = typeof address === 'object' && address ? address.port : 0
  await home.keelson(['run', 'http://127.0.0.1:9/mcp', '--name', 'taken']) // exits with 1: nobody responds
})
afterAll(async () => {
  busy.close()
  await home.close()
  await rm(other, { recursive: true, force: true })
})

/** Files of the user that say something of workloads. */
async function traces(): Promise<string[]> {
  const files = await readdir(home.path, { recursive: true })
  return files.filter(file => /runconfigs|statuses|processes|leases/.test(file)).sort()
}

async function expectRefused(
  args: readonly string[],
  named: string | RegExp,
  codes: readonly number[],
): Promise<void> {
  const before = { home: await traces(), temporary: await temporaries() }
  const { code, stdout, stderr } = await home.keelson(args, { cwd: other })
  expect(codes, stderr).toContain(code)
  expect(stdout).toBe('')
  expect(stderr).toMatch(/^Error: /m)
  expect(stderr).toMatch(named)
  expect(stderr).not.toMatch(/defect in keelson|\n\s+at |\[object/)
  expect(stderr.trim().split('\n').length).toBeLessThanOrEqual(3) // what was begun, what is wrong, what to do
  expect({ home: await traces(), temporary: await temporaries() }).toEqual(before)
}

const temporaries = async () =>
  (await readdir(temporary)).filter(name => /^keelson-(build|env|source)/.test(name)).sort()

const URL_TARGET = 'https://example.test/mcp'
const NPX = 'npx://name@1.0.0'

describe('wrong usage is refused with 2', () => {
  test.each<[args: string[], named: string]>([
    [['run'], 'run'],
    [['run', '--no-such-flag', NPX], '--no-such-flag'],
    [['run', '-Z', NPX], '-Z'],
    [['run', NPX, 'second'], 'takes TARGET and no other argument'],
    [['run', NPX, '--name'], '--name'],
    [['run', NPX, '--foreground=perhaps'], '--foreground'],
    [['run', NPX, '--no-name'], '--no-name'],
    [['run', NPX, '--transport', 'carrier-pigeon'], '--transport'],
    [['run', NPX, '--proxy-mode', 'telepathy'], '--proxy-mode'],
    [['run', NPX, '--proxy-port', '0'], '--proxy-port'],
    [['run', NPX, '--proxy-port', '65536'], '--proxy-port'],
    [['run', NPX, '--proxy-port', 'http'], '--proxy-port'],
    [['run', NPX, '--target-port', '-1'], '--target-port'],
    [['run', NPX, '--host', '::1'], '--host'],
    [['run', NPX, '--host', 'no-such-name.invalid'], '--host'],
    [['run', NPX, '--session-ttl', 'long'], '--session-ttl'],
    [['run', NPX, '--allowed-origins', 'nonsense'], '--allowed-origins'],
    [['run', NPX, '--endpoint-prefix', 'no-slash'], '--endpoint-prefix'],
    [['run', NPX, '-e', 'NO_VALUE'], '--env'],
    [['run', NPX, '-e', '1=2'], '--env'],
    [['run', NPX, '-v', '/tmp'], '--volume'],
    [['run', NPX, '-v', '/tmp:relative'], '--volume'],
    [['run', NPX, '-v', '/tmp:/a', '-v', '/tmp:/a'], '--volume'],
    [['run', NPX, '-v', '/tmp:/a;b'], '--volume'],
    [['run', NPX, '-p', 'http'], '--publish'],
    [['run', NPX, '-p', '1:2:3'], '--publish'],
    [['run', NPX, '-l', '=x'], '--label'],
    [['run', NPX, '--memory', 'lots'], '--memory'],
    [['run', NPX, '--memory', '0'], '--memory'],
    [['run', NPX, '--cpus', '0'], '--cpus'],
    [['run', NPX, '--cpus=-1'], '--cpus'],
    [['run', NPX, '--permission-profile', 'nobody'], '--permission-profile'],
    [['run', NPX, '--stateless'], '--stateless'],
    [['run', NPX, '--stateless', '--transport', 'sse'], '--stateless'],
    [['run', NPX, '--target-port', '80'], '--target-port'],
    [['run', NPX, '--transport', 'stdio', '--target-host', '127.0.0.1'], '--target-host'],
    [['run', NPX, '--build-with', 'x', '--runtime', 'process'], '--build-with'],
    [['run', NPX, '--runtime-image', 'x', '--runtime', 'process'], '--runtime-image'],
    [['run', NPX, '--runtime-add-package', 'x', '--runtime', 'process'], '--runtime-add-package'],
    [['run', NPX, '--allow-build-network', '--runtime', 'process'], '--allow-build-network'],
    [['run', NPX, '--allow-build-host', 'a.example', '--runtime', 'process'], '--allow-build-host'],
    [['run', 'npx://'], 'npx://'],
    [['run', 'Not/An/Image'], 'Not/An/Image'],
    [['run', 'some/image', '--runtime-image', 'x'], '--runtime-image'],
    [['run', 'some/image', '--runtime-add-package', 'x'], '--runtime-add-package'],
    [['run', 'some/image', '--build-with', 'x'], '--build-with'],
    [['run', 'some/image', '--allow-build-network'], '--allow-build-network'],
    [['run', 'some/image', '--allow-build-host', 'a.example'], '--allow-build-host'],
    [['run', 'https://'], 'https://'],
    [['run', 'https://user:word@example.test/'], 'password'],
    [['run', URL_TARGET, '--transport', 'stdio'], '--transport stdio'],
    ...[
      ['--runtime', 'process'],
      ['-e', 'A=b'],
      ['-v', '/tmp:/tmp'],
      ['-p', '80'],
      ['--network', 'none'],
      ['--memory', '1g'],
      ['--cpus', '1'],
      ['--permission-profile', 'none'],
      ['--target-port', '80'],
      ['--runtime-image', 'x'],
    ].map((flag): [string[], string] => [['run', URL_TARGET, ...flag], URL_TARGET]),
    [['run', URL_TARGET, '--', 'argument'], 'behind --'],
    [['stop'], '--all'],
    [['rm', '--all', 'name'], '--all'],
    [['list', '--format', 'xml'], '--format'],
    [['list', '-l', 'x'], '--label'],
    [['logs'], 'Usage: keelson logs'],
    [['logs', 'taken', '--proxy', '--since', '3m'], '--since'],
    [['export'], 'Usage: keelson export'],
    [['version', 'extra'], 'extra'],
    [['completion', 'tcsh'], 'tcsh'],
    [['build', 'some/image'], 'some/image'],
    [['mcp', 'call', 'echo'], '--server'],
    [['mcp', 'call', 'echo', '--server', 'taken', '--args', '['], '--args'],
    [['lisst'], 'list'],
  ])('%j', (args, named) => expectRefused(args, new RegExp(named.replace(/[/.]/g, '\\$&')), [2]))
})

describe('what is not there, taken or unreadable is refused', () => {
  test.each<[args: string[], named: RegExp]>([
    [['run', NPX, '--name', 'a/b'], /"a\/b"/],
    [['run', NPX, '--name', '..'], /"\.\."/],
    [['run', NPX, '--name', 'n'.repeat(101)], /nnn/],
    [['run', NPX, '--name', 'taken'], /"taken" already exists/],
    [['run', URL_TARGET, '--name', 'taken'], /"taken" already exists/],
    [['run', NPX, '--group', 'nobody'], /"nobody"/],
    [['run', NPX, '--runtime', 'nowhere'], /"nowhere"/],
    [['run', 'some/image', '--runtime', 'process'], /some\/image/],
    [['run', NPX, '-v', '/no/such/path:/x'], /\/no\/such\/path.*--volume/],
    [
      ['run', NPX, '--ca-cert', '/no/such/file', '--runtime', 'docker'],
      /--ca-cert.*\/no\/such\/file|\/no\/such\/file/,
    ],
    [['run', '--from-config', '/no/such/file'], /--from-config.*\/no\/such\/file/],
    [['run', '--from-config', 'folder'], /--from-config.*folder/],
    [['run', '--from-config', 'broken.json'], /broken\.json/],
    [['run', '--from-config', 'nameless.json'], /name/],
    [['run', '--from-config', 'imageless.json'], /image/],
    [['run', '--from-config', 'next.json'], /v9/],
    [['run', '--from-config', 'broken.json', '--memory', '1g'], /memory/],
    [['run', NPX, '--permission-profile', 'folder'], /--permission-profile.*folder/],
    [['run', NPX, '--permission-profile', 'broken.json'], /broken\.json/],
    [['start', 'nobody'], /"nobody"/],
    [['status', 'nobody'], /"nobody"/],
    [['logs', 'nobody'], /"nobody"/],
    [['export', 'nobody', 'file'], /"nobody"/],
    [['export', 'taken', 'folder'], /folder/],
    [['mcp', 'list', '--server', 'nobody'], /"nobody"/],
    [['mcp', 'call', 'echo', '--server', 'taken', '--args-file', '/no/such/file'], /--args-file/],
    [['runtime', 'check', '--runtime', 'nowhere'], /nowhere/],
    [['plugin', 'remove', 'nobody'], /nobody/],
    [['build', NPX, '-o', '/no/such/folder/file', '--ca-cert', '/no/such/file'], /--ca-cert/],
    [['run', NPX, '--ca-cert', '/no/such/file', '--runtime', 'process'], /--ca-cert.*\/no\/such\/file/],
    [['run', NPX, '--env-file', '/no/such/file'], /--env-file.*\/no\/such\/file/],
  ])('%j', (args, named) => expectRefused(args, named, [1, 2]))

  test('a busy port', () =>
    expectRefused(['run', NPX, '--proxy-port', String(port)], new RegExp(String(port)), [1, 2]))

  test('a file of --env-file that makes no sense', () =>
    expectRefused(['run', NPX, '--env-file', 'broken.env'], /broken\.env.*line 2/, [1]))

  test('a file without read permission', async () => {
    const user = await keelsonUser(withoutRoot())
    await writeFile(join(user.home, 'secret.json'), '{}')
    await chmod(join(user.home, 'secret.json'), 0)
    const { code, stdout, stderr } = await user.run(['run', '--from-config', 'secret.json'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^Error: .*--from-config.*secret\.json/m)
  })
})

describe('an engine that is not there', () => {
  /** No program at all: neither docker nor podman, nor npm, python or go. */
  const bare = { PATH: '/nonexistent' }

  test('is named when it was asked for', async () => {
    for (const [engine, env] of [
      ['docker', { DOCKER_HOST: 'unix:///nonexistent.sock' }],
      ['docker', bare],
      ['podman', bare],
    ] as const) {
      const before = await traces()
      const { code, stdout, stderr } = await home.keelson(['run', NPX, '--runtime', engine], { env })
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(new RegExp(`^Error: .*${engine}`, 'im'))
      expect(stderr).not.toMatch(/defect|\n\s+at /)
      expect(await traces()).toEqual(before)
    }
  })

  test.each([
    [['--help']],
    [['run', '--help']],
    [['version']],
    [['list', '--all']],
    [['status', 'taken']],
    [['export', 'taken', 'exported.json']],
    [['completion', 'bash']],
    [['plugin', 'list']],
    [['build', '--dry-run', NPX]],
  ])('is not asked for by %j', async args => {
    const { code, stderr } = await home.keelson(args, {
      env: { ...bare, DOCKER_HOST: 'unix:///nonexistent.sock', KEELSON_RUNTIME: 'docker' },
    })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })
})
