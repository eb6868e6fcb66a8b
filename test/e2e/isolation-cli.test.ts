import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, type TestContext, test } from 'vitest'
import { clientV1, textOf } from './clients.ts'
import { type Home, openHome, until } from './home.ts'
import { leftOvers, needsPlace } from './places-to-run.ts'

// Isolation as a user meets it: the real program, its supervisor, a server in a container of docker's.

const fixture = new URL('../../fixtures/isolation', import.meta.url).pathname
const NAME = 'e2e-isolated'
let home: Home
let url = ''

const run = (name: string, ...flags: string[]) =>
  home.keelson([
    ...['run', '--runtime', 'docker', '--name', name, '--transport', 'streamable-http'],
    ...['-v', `${fixture}:/srv:ro`, ...flags, 'keelson-test/node:24', '--', 'node', '/srv/server.mjs'],
  ])
const call = async (tool: string, args: Record<string, unknown>): Promise<string> => {
  const client = await clientV1(url)
  return textOf(await client.callTool({ name: tool, arguments: args }))
}
const plainGet = 'GET http://denied.example/ HTTP/1.1\r\nHost: denied.example\r\n\r\n'

beforeAll(async () => {
  home = await openHome()
})
afterAll(() => home?.close(), 120_000)

let coming: Promise<void> | undefined

/** The isolated server of the first three tests, started by the first of them that runs. */
async function isolated(context: TestContext): Promise<void> {
  needsPlace(context, 'docker')
  coming ??= (async () => {
    const profile = join(home.path, 'profile.json')
    const outbound = { allow_host: ['allowed.example'], allow_port: [443] }
    await writeFile(profile, JSON.stringify({ network: { outbound } }))
    const shown = await run(NAME, '--permission-profile', profile)
    expect(shown.code, shown.stderr).toBe(0)
    url = shown.stdout
  })()
  await coming
}

test('run isolates without being asked; a denial shows in the log and can be explained', {
  timeout: 60_000,
}, async context => {
  await isolated(context)

  const answer = await call('proxy', { send: plainGet })
  expect(answer).toMatch(/^HTTP\/1\.1 403/)
  expect(answer).toContain('"allow_host": ["allowed.example","denied.example"]')
  await until(async () => {
    expect(await home.ok(['logs', NAME, '--proxy'])).toMatch(/egress denied.*denied\.example.*allow_host/)
  }, 10)
  const why = await home.keelson(['egress', 'explain', NAME, 'http://denied.example/'])
  expect(why.code).toBe(3)
  expect(why.stdout).toContain('not_in_allow_host')
})

test('while the supervisor is killed nothing gets out; the next one opens the egress listener again', {
  timeout: 60_000,
}, async context => {
  await isolated(context)
  process.kill(await home.supervisor(), 'SIGKILL')
  await home.ok(['list'])
  await until(async () => expect(await call('proxy', { send: plainGet })).toMatch(/^HTTP\/1\.1 403/))
})

test('stop and rm leave no network and no rule', async context => {
  await isolated(context)
  expect(leftOvers('docker', 'keelson-').filter(name => name.endsWith(NAME))).toHaveLength(1)
  await home.ok(['stop', NAME])
  expect(leftOvers('docker', 'keelson-').filter(name => name.endsWith(NAME))).toEqual([])
  await home.ok(['start', NAME])
  await until(async () => expect(await call('proxy', { send: plainGet })).toMatch(/^HTTP\/1\.1 403/))
  await home.ok(['rm', NAME])
  expect(leftOvers('docker', 'keelson-').filter(name => name.endsWith(NAME))).toEqual([])
})

test('a start that fails leaves no network', async context => {
  needsPlace(context, 'docker')
  const { code, stderr } = await home.keelson([
    ...[
      'run',
      '--runtime',
      'docker',
      '--name',
      'e2e-fails',
      'keelson-test/node:24',
      '--',
      'node',
      '-e',
      'process.exit(3)',
    ],
  ])
  expect(code).toBe(1)
  expect(stderr).toContain('ended before it was ready')
  expect(leftOvers('docker', 'keelson-').filter(name => name.endsWith('e2e-fails'))).toEqual([])
})

test('another network mode turns isolation off with a warning, and is refused if isolation was asked for', {
  timeout: 60_000,
}, async context => {
  needsPlace(context, 'docker')
  const refused = await run('e2e-host', '--network', 'host', '--isolate-network')
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain('--isolate-network cannot be combined with the network mode "host".')
  const open = await run('e2e-host', '--network', 'host')
  expect(open.code, open.stderr).toBe(0)
  expect(open.stderr).toContain('The network mode \\"host\\" excludes isolation')
  await home.ok(['rm', 'e2e-host'])
})

test('--isolate-network=false leaves the network open', async context => {
  needsPlace(context, 'docker')
  const shown = await run('e2e-open', '--isolate-network=false')
  expect(shown.code, shown.stderr).toBe(0)
  expect(leftOvers('docker', 'keelson-').filter(name => name.endsWith('e2e-open'))).toEqual([])
  await home.ok(['rm', 'e2e-open'])
})

test('--print-resolved-overlays names the hidden paths', async context => {
  needsPlace(context, 'docker')
  const folder = await mkdtemp(join(tmpdir(), 'ki-overlays-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await mkdir(join(folder, 'secrets'))
  await writeFile(join(folder, '.env'), '')
  await writeFile(join(folder, '.keelsonignore'), '.env\nsecrets/\n')
  const shown = await run('e2e-overlays', '-v', `${folder}:/data`, '--print-resolved-overlays')
  expect(shown.code, shown.stderr).toBe(0)
  expect(shown.stderr).toContain('Hidden: /data/.env\n')
  expect(shown.stderr).toContain('Hidden: /data/secrets/\n')
  expect(shown.stderr).toContain('Hidden: /data/.keelsonignore\n')
  await home.ok(['rm', 'e2e-overlays'])
})
