import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, onTestFinished, type TestContext, test } from 'vitest'
import { clientV1, textOf } from '../e2e/clients.ts'
import { type Home, openHome } from '../e2e/home.ts'
import { leftOvers, PLACES, type Place } from '../e2e/places-to-run.ts'
import { type ApiServer, startApi } from '../support/api-server.ts'
import { engineProblem } from '../support/engine-problem.ts'
import { reachingServer } from '../support/hostile/reaching-server.ts'
import { FORMS, type HostileEntry, nameIn, publish } from '../support/hostile/registry.ts'
import { keelsonUser } from '../support/keelson.ts'
import { needs } from '../support/left-out.ts'
import { atTerminal } from '../support/terminal.ts'

// A stranger publishes entries that want more than any server gets. Whatever the form of the registry and
// the way to run, nothing of it is granted without the user's word.

const SERVER = reachingServer('true')
const PACKAGE = { image: 'npx://@modelcontextprotocol/server-everything@2026.8.31', transport: 'stdio' }
const network = (outbound: object, more: object = {}) => ({ permissions: { network: { outbound, ...more } } })
const host = (name: string) => network({ allow_host: [name] })

/** What is never granted, and a word of the refusal. */
const WIDENING: Readonly<Record<string, readonly [HostileEntry, RegExp]>> = {
  privileged: [{ permissions: { privileged: true } }, /privileged/],
  'host-network': [network({}, { mode: 'host' }), /network\.mode "host"/],
  'container-network': [network({}, { mode: 'container:other' }), /network\.mode/],
  'named-network': [network({}, { mode: 'company' }), /network\.mode/],
  inbound: [network({}, { inbound: { allow_host: ['attacker.example'] } }), /network\.inbound/],
  metadata: [host('169.254.169.254'), /metadata service/],
  azure: [host('168.63.129.16'), /metadata service/],
  loopback: [host('127.0.0.1'), /loopback/],
  'short-loopback': [host('127.1'), /loopback/],
  'hex-loopback': [host('0x7f.1'), /loopback/],
  'decimal-loopback': [host('2130706433'), /loopback/],
  'octal-private': [host('012.0.0.1'), /private/],
  'mapped-private': [host('::ffff:10.0.0.1'), /private/],
  'ipv6-loopback': [host('[::1]'), /loopback/],
  localhost: [host('LOCALHOST.'), /on this machine/],
  'below-localhost': [host('*.localhost'), /on this machine/],
  printer: [host('printer.local'), /on this machine/],
  'cloud-name': [host('metadata.google.internal'), /on this machine/],
  'the-host': [host('host.docker.internal'), /on this machine/],
  router: [host('fritz'), /without a dot/],
  'mount-of-nothing': [{ permissions: { read: ['/no/such/place'] } }, /does not exist/],
  'mount-of-two': [{ permissions: { read: ['/etc:/a:/b'] } }, /not PATH or HOST:CONTAINER/],
  'steering-mount': [{ permissions: { write: ['/tmp\u001b[2J\u202e'] } }, /does not exist|characters/],
}
const wideningEntries = Object.fromEntries(
  Object.entries(WIDENING).map(([name, [entry]]) => [name, { ...SERVER, ...entry }]),
)

let home: Home
beforeAll(async () => {
  home = await openHome({ KEELSON_SECRETS_PROVIDER: 'environment' })
})
afterAll(() => home.close(), 120_000)

const problems = {
  docker: engineProblem('docker', SERVER.image),
  podman: engineProblem('podman', SERVER.image),
  process: undefined,
}
function needsRuntime(context: TestContext, place: Place): void {
  needs(context, problems[place])
}

/** `keelson serve` of a user whose registry a stranger fills. */
async function serve(): Promise<ApiServer> {
  const user = await keelsonUser()
  user.env.KEELSON_RUNTIME = 'docker'
  return startApi({ user })
}
const create = (api: ApiServer, name: string, server: string, more: object = {}) =>
  api.ask('POST', '/api/v1beta/workloads', { name, registry: 'default', server, ...more })

describe.each(PLACES)('on %s, by the command line', { timeout: 180_000 }, place => {
  test('an entry that wants rights, networks or private hosts is refused, and nothing is made', async context => {
    needsRuntime(context, place)
    const base = place === 'process' ? PACKAGE : SERVER
    const names = ['privileged', 'host-network', 'inbound', 'metadata', 'loopback', 'steering-mount']
    const entries = names.map(name => [name, { ...base, ...WIDENING[name]?.[0] }] as const)
    await publish(home.path, 'older file', Object.fromEntries(entries))

    for (const name of names) {
      const workload = `hostile-${place}-${name}`
      const shown = await home.keelson(['run', name, '--name', workload, '--runtime', place])
      expect(shown, name).toMatchObject({ code: 1, stdout: '' })
      expect(shown.stderr).toMatch(WIDENING[name]?.[1] ?? /^$/)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
      expect(shown.stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
    }
    expect(JSON.parse(await home.ok(['list', '--all', '--format', 'json']))).toEqual([])
    if (place !== 'process') expect(leftOvers(place, `hostile-${place}-`)).toEqual([])
  })
})

test.each(FORMS)(
  'over HTTP, from a registry as %s, none of it is granted',
  { timeout: 120_000 },
  async form => {
    const api = await serve()
    await publish(api.user.home, form, wideningEntries)

    for (const [name, [, words]] of Object.entries(WIDENING)) {
      const answer = await create(api, name, nameIn(form, name))
      expect(`${answer.status} ${answer.text}`, name).toMatch(/^403 .*asks for more than an entry may/)
      expect(answer.text, name).toMatch(words)
    }
    expect((await api.ask('GET', '/api/v1beta/workloads?all=true')).json()).toEqual({ workloads: [] })
  },
)

test('`registry info` says what is wanted and what is refused', async () => {
  const asks = { type: 'named', name: '--privileged' }
  await publish(home.path, 'server.json file', {
    'host-network': { ...SERVER, ...WIDENING['host-network']?.[0] },
    reader: { ...SERVER, permissions: { read: ['/etc'] }, package: { runtimeArguments: [asks] } },
  })

  expect(await home.ok(['registry', 'info', 'host-network'])).toMatch(/Refused[\s\S]*network\.mode "host"/)
  const shown = await home.ok(['registry', 'info', 'reader'])
  expect(shown).toContain('reads /etc (you are asked)')
  expect(shown).toMatch(/not passed on\):\n {2}- --privileged/)
})

describe.each(['docker', 'podman'] as const)('on %s', { timeout: 240_000 }, place => {
  test('arguments for the engine, names of profiles and unknown members of an entry do nothing', async context => {
    needsRuntime(context, place)
    const secret = join(home.path, 'not-given')
    await mkdir(secret, { recursive: true })
    const named = (name: string, value?: string) => ({ type: 'named', name, ...(value ? { value } : {}) })
    await publish(home.path, 'server.json file', {
      engine: {
        ...SERVER,
        permissions: { name: 'none', network: { outbound: {} }, cap_add: ['ALL'], devices: ['/dev/kmsg'] },
        package: {
          runtimeArguments: [
            named('--privileged'),
            named('-v', '/:/host'),
            named('--volume', `${secret}:/secret`),
            named('--mount', 'type=bind,source=/,target=/all'),
            named('--network', 'host'),
            named('--pid', 'host'),
            { type: 'positional', value: '--cap-add=ALL' },
          ],
        },
      },
    })
    const name = `hostile-engine-${place}`

    const shown = await home.keelson(['run', 'engine', '--name', name, '--runtime', place])

    expect(shown.code, shown.stderr).toBe(0)
    expect(shown.stderr).toContain('asks for engine arguments, which are not passed on')
    const { stdout } = await execa(place, ['inspect', name])
    const [{ HostConfig, Mounts }] = JSON.parse(stdout)
    expect(HostConfig).toMatchObject({ Privileged: false })
    expect(HostConfig.NetworkMode).not.toBe('host')
    expect(HostConfig.PidMode).not.toBe('host')
    expect(HostConfig.CapAdd ?? []).toEqual([])
    expect(HostConfig.Devices ?? []).toEqual([])
    expect(Mounts.filter(({ Type }: { Type: string }) => Type === 'bind')).toEqual([])
    expect(await config(home, name)).toMatchObject({ permission_profile: { network: { outbound: {} } } })
    expect((await config(home, name)).permission_profile).not.toHaveProperty('name')
    await home.ok(['rm', name])
  })

  test('a mount is given after --accept-permissions alone, and remembered', async context => {
    needsRuntime(context, place)
    const { folder, entry } = await writer(home.path, place)
    await publish(home.path, 'older file', { writer: entry })
    const name = `hostile-writer-${place}`
    const run = (...more: string[]) =>
      home.keelson(['run', 'writer', '--name', name, '--runtime', place, ...more])

    const refused = await run()
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain(`write ${folder} (as /data)`)
    expect(refused.stderr).toContain('--accept-permissions')
    expect(refused.stderr).toContain('--permission-profile')
    expect(leftOvers(place, name)).toEqual([])

    const own = await run('--permission-profile', 'none')
    expect(own.code, own.stderr).toBe(0)
    expect((await config(home, name)).permission_profile).toEqual({ name: 'none', network: { outbound: {} } })
    await home.ok(['rm', name])
    await expect(readFile(join(folder, 'proof'))).rejects.toThrow('ENOENT')

    const accepted = await run('--accept-permissions')
    expect(accepted.code, accepted.stderr).toBe(0)
    expect(accepted.stderr).toContain('gets access to files of this machine')
    expect(await readFile(join(folder, 'proof'), 'utf8')).toBe('was here\n')
    expect(await config(home, name)).toMatchObject({
      accepted_permissions: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      permission_profile: { write: [`${folder}:/data`] },
    })
    // What a user exports is the user's own: it runs again without a question.
    const exported = join(home.path, `${name}.json`)
    await home.ok(['export', name, exported])
    await home.ok(['rm', name])
    await rm(join(folder, 'proof'))
    await home.ok(['run', '--from-config', exported])
    expect(await readFile(join(folder, 'proof'), 'utf8')).toBe('was here\n')
    await home.ok(['rm', name])
  })
})

test('on process a mount is given after --accept-permissions alone', { timeout: 240_000 }, async () => {
  const folder = join(home.path, 'read-by-process')
  await mkdir(folder)
  await writeFile(join(folder, 'note.txt'), 'a note of the user')
  const entry = {
    image: 'npx://@modelcontextprotocol/server-filesystem@2026.8.31',
    transport: 'stdio',
    args: ['/data'],
    permissions: { network: { outbound: {} }, read: [`${folder}:/data`] },
  }
  await publish(home.path, 'older file', { reader: entry })
  const run = ['run', 'reader', '--name', 'hostile-reader', '--runtime', 'process']

  const refused = await home.keelson(run)
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toContain(`read  ${folder} (as /data)`)

  const client = await clientV1(await home.ok([...run, '--accept-permissions']))
  const read = (path: string) => client.callTool({ name: 'read_text_file', arguments: { path } })
  expect(textOf(await read('/data/note.txt'))).toContain('a note of the user')
  await client.callTool({ name: 'write_file', arguments: { path: '/data/new', content: 'x' } })
  await expect(readFile(join(folder, 'new'))).rejects.toThrow('ENOENT')
  await client.close()
  await home.ok(['rm', 'hostile-reader'])
})

test('at a terminal all mounts are shown resolved and real, and only a yes gives them', {
  timeout: 240_000,
}, async context => {
  needsRuntime(context, 'docker')
  const { folder, entry } = await writer(home.path, 'terminal')
  const link = join(home.path, 'harmless')
  await symlink(home.path, link)
  const permissions = {
    read: ['~', '..:/above', `${link}/../../..:/deep`, '/:/host', '/var/run/docker.sock'],
    write: [`${folder}/../terminal:/data`],
  }
  await publish(home.path, 'older file', { 'asks-much': { ...entry, permissions } })
  const name = 'hostile-terminal'
  const run = (answer: string) =>
    atTerminal(
      { cwd: home.path, env: home.env },
      ['run', 'asks-much', '--name', name, '--runtime', 'docker'],
      [['Allow it?', `${answer}\r`]],
    )

  const declined = await run('n')
  expect(declined.code).toBe(1)
  expect(declined.screen).toContain('asks for access to files of this machine')
  expect(declined.screen).toContain(`read  ${home.path} — your home folder`)
  expect(declined.screen).toContain('read  /tmp (as /above) — contains your home folder')
  expect(declined.screen).toContain('read  / (as /deep) — everything on this machine')
  expect(declined.screen).toContain('read  / (as /host) — everything on this machine')
  expect(declined.screen).toMatch(/read {2}\S*\/run\/docker\.sock \S*.*— a socket/)
  expect(declined.screen).toContain(`write ${folder} (as /data)`)
  expect(declined.screen).toContain('was not given access; nothing was changed')
  expect((await run('')).code).toBe(1)
  expect(leftOvers('docker', name)).toEqual([])

  await publish(home.path, 'older file', { 'asks-much': entry })
  const accepted = await run('y')
  expect(accepted.code, accepted.screen).toBe(0)
  expect(await readFile(join(folder, 'proof'), 'utf8')).toBe('was here\n')
  await home.ok(['rm', name])
})

test('over HTTP a 409 names mounts and hash; that hash alone accepts them, until they change', {
  timeout: 120_000,
}, async context => {
  needsRuntime(context, 'docker')
  const api = await serve()
  const { folder, entry } = await writer(api.user.home, 'given')
  const link = join(api.user.home, 'link')
  await symlink(folder, link)
  await publish(api.user.home, 'API', { writer: { ...entry, permissions: { write: [`${link}:/data`] } } })
  const name = `hostile-http-${process.pid}`

  const asked = await create(api, name, 'writer')
  expect(asked.status).toBe(409)
  const { code, wanted_permissions: wanted } = asked.json() as {
    code: string
    wanted_permissions: { hash: string }
  }
  expect(code).toBe('permissions_unaccepted')
  expect(wanted).toEqual({
    server: 'com.attacker/writer',
    hash: expect.stringMatching(/^sha256:/),
    mounts: [{ source: folder, target: '/data', access: 'write' }],
  })
  for (const accept_permissions of ['', 'true', 'sha256:0', `${wanted.hash} `]) {
    expect((await create(api, name, 'writer', { accept_permissions })).status).toBe(409)
  }

  // The link now leads elsewhere: that is something else than what was shown.
  await rm(link)
  await symlink(api.user.home, link)
  const moved = await create(api, name, 'writer', { accept_permissions: wanted.hash })
  expect(moved.status).toBe(409)
  expect(moved.text).toContain('your home folder')
  await rm(link)
  await symlink(folder, link)

  const made = await create(api, name, 'writer', { accept_permissions: wanted.hash })
  expect(made.status, made.text).toBe(201)
  await api.untilStatus(name, 'running')
  expect(await readFile(join(folder, 'proof'), 'utf8')).toBe('was here\n')
  const exported = (await api.ask('GET', `/api/v1beta/workloads/${name}/export`)).json()
  expect(exported).toMatchObject({
    accepted_permissions: wanted.hash,
    permission_profile: { write: [`${folder}:/data`] },
  })
  await api.user.run(['rm', name])
})

test('a public registry cannot make keelson speak to this machine or its network', {
  timeout: 300_000,
}, async () => {
  let hits = 0
  const listener = createServer((_, response) => {
    hits++
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => listener.once('listening', resolve))
  onTestFinished(() => void listener.close())
  const { port } = listener.address() as AddressInfo
  const remote = (url: string, more: object = {}): HostileEntry => ({
    url,
    transport: 'streamable-http',
    ...more,
  })
  const entries: Record<string, HostileEntry> = {
    loopback: remote(`http://127.0.0.1:${port}/mcp`),
    name: remote(`http://localhost:${port}/mcp`),
    number: remote(`http://2130706433:${port}/mcp`),
    mapped: remote(`http://[::ffff:127.0.0.1]:${port}/mcp`),
    cloud: remote('http://169.254.169.254/latest/meta-data'),
    'cloud-name': remote('http://metadata.google.internal/'),
    intranet: remote('https://wiki/mcp'),
    template: remote(`http://{where}:${port}/mcp`, {
      remote: { variables: { where: { default: '127.0.0.1' } } },
    }),
    // The extension has no say in what runs.
    hidden: { ...SERVER, image: `127.0.0.1:${port}/x:1`, extension: { url: `http://127.0.0.1:${port}/mcp` } },
    image: { ...SERVER, image: `localhost:${port}/x:1` },
    folder: { image: 'go://./secret-project@v1.0.0', transport: 'stdio' },
    module: { image: `go://127.0.0.1/x@v1.0.0`, transport: 'stdio' },
  }
  const api = await serve()
  await publish(api.user.home, 'public API', entries)

  for (const name of Object.keys(entries)) {
    const answer = await create(api, name, nameIn('public API', name))
    expect(`${answer.status} ${answer.text}`, name).toMatch(/^403 .*asks for more than an entry may/)
    const shown = await api.user.run(['run', nameIn('public API', name), '--name', name])
    expect(shown, name).toMatchObject({ code: 1, stdout: '' })
  }
  expect(hits).toBe(0)

  // In a file of one's own, and in a registry of one's own network, they may.
  const own = { loopback: entries.loopback as HostileEntry }
  for (const form of ['older file', 'API'] as const) {
    await publish(api.user.home, form, own)
    const created = await create(api, form.slice(0, 3), nameIn(form, 'loopback'))
    expect(created.status, created.text).toBe(201)
    const before = hits
    const { port: proxied } = created.json() as { port: number }
    const ping = {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    }
    // It is created before its proxy listens.
    await expect
      .poll(
        () =>
          fetch(`http://127.0.0.1:${proxied}/mcp`, ping).then(
            () => hits,
            () => 0,
          ),
        {
          timeout: 30_000,
        },
      )
      .toBeGreaterThan(before)
  }
})

test('a public remote that later resolves to this machine gets no request', {
  timeout: 60_000,
}, async () => {
  let hits = 0
  const listener = createServer((_, response) => {
    hits++
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => listener.once('listening', resolve))
  onTestFinished(() => void listener.close())
  const url = `http://localhost:${(listener.address() as AddressInfo).port}/mcp`
  const file = join(home.path, 'rebound.json')
  const rebound = {
    name: 'rebound',
    remote_url: url,
    transport: 'streamable-http',
    remote_must_be_public: true,
  }
  await writeFile(file, JSON.stringify(rebound))

  const { code, stdout } = await home.keelson(['run', '--from-config', file])
  expect(code).toBe(1)
  const response = await fetch(stdout.trim(), { method: 'POST', body: '{}' })

  expect(response.status).toBe(502)
  expect(hits).toBe(0)
  await home.keelson(['rm', 'rebound'])
})

/** An entry that wants to write into a folder, and does so when it may. */
async function writer(base: string, name: string): Promise<{ folder: string; entry: HostileEntry }> {
  const folder = join(base, name)
  await mkdir(folder, { recursive: true, mode: 0o777 })
  const entry = {
    ...reachingServer('echo was here >/data/proof'),
    permissions: { network: { outbound: {} }, write: [`${folder}:/data`] },
  }
  return { folder, entry }
}

async function config(where: Home, name: string): Promise<Record<string, unknown>> {
  const file = join(where.path, '.local/state/keelson/runconfigs', `${name}.json`)
  return JSON.parse(await readFile(file, 'utf8'))
}
