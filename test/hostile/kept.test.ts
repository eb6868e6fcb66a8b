import { spawnSync } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { FLAG_EFFECTS } from '../../plugins/workloads/flag-effects.ts'
import { clientV1, textOf } from '../e2e/clients.ts'
import { type Home, openHome, until } from '../e2e/home.ts'
import { needsPlace } from '../e2e/places-to-run.ts'
import { startApi } from '../support/api-server.ts'
import { flagSamples } from '../support/hostile/flag-samples.ts'
import type { KeelsonUser } from '../support/keelson.ts'

// What a run config asks for, and what becomes of it on every way by which a workload comes up: from a
// file, over HTTP, from the state folder when a supervisor starts.

const isolation = new URL('../../fixtures/isolation', import.meta.url).pathname
const path = '/api/v1beta/workloads'
let home: Home

beforeAll(async () => {
  home = await openHome()
})
afterAll(() => home?.close(), 120_000)

const serve = (of: Home = home) => {
  const user: KeelsonUser = {
    home: of.path,
    env: of.env,
    run: (args, options) => of.keelson(args, options) as never,
  }
  return startApi({ user })
}
const fileOf = (folder: string, name: string) => join(home.path, folder, `${name}.json`)
const RUN_CONFIGS = '.local/state/keelson/runconfigs'
const STATUSES = '.local/share/keelson/statuses'

async function save(file: string, document: object): Promise<string> {
  await mkdir(join(file, '..'), { recursive: true })
  await writeFile(file, JSON.stringify(document))
  return file
}

const remote = (name: string, more: object = {}) => ({
  ...{ schema_version: 'v0.1.0', name, transport: 'streamable-http', port: 0 },
  ...{ remote_url: 'http://127.0.0.1:9/mcp', ...more },
})

/** One value for each member that asks for what keelson does not do. */
const SECTIONS: Readonly<Record<string, unknown>> = {
  OIDC_Config: { Issuer: 'https://login.example' },
  Audit_Config: { component: 'mine' },
  Mutating_Webhooks: [{ name: 'a', url: 'https://hook.example' }],
  Validating_Webhooks: [{ name: 'a', url: 'https://hook.example' }],
  Telemetry_Config: { endpoint: 'otel.example:4318' },
  scaling_config: { backend_replicas: 2 },
  strict_protocol_validation: true,
  additional_middleware_configs: [{ type: 'obo', parameters: {} }],
  middleware_configs: [{ type: 'obo', parameters: { endpoint: 'https://far.example' } }],
}

/** What ToolHive writes into an export although it asks for nothing. */
const BOOKKEEPING = {
  oidc_config: null,
  embedded_auth_server_config: null,
  authz_config: null,
  audit_config: null,
  tools_filter: [],
  tools_override: {},
  telemetry_config: { endpoint: '', serviceName: 'mine', samplingRate: '0.05', tracingEnabled: true },
  remote_auth_config: { callback_port: 8666, timeout: 30_000_000_000, use_pkce: true, scopes: [] },
  scaling_config: { backend_replicas: 1 },
  token_exchange_config: null,
  aws_sts_config: null,
  header_forward: {},
  rate_limit_config: null,
  middleware_configs: [
    { type: 'bodylimit', parameters: { max_bytes: 8_388_608 } },
    { type: 'origin', parameters: { allowed_origins: ['http://localhost:4000'] } },
    { type: 'auth', parameters: { oidc_config: null } },
    { type: 'tool-filter', parameters: { filter_tools: null, tools_override: null } },
    { type: 'mcp-parser', parameters: {} },
    { type: 'telemetry', parameters: { config: null } },
    { type: 'usagemetrics', parameters: {} },
    { type: 'recovery', parameters: null },
  ],
}

describe('a run config that asks for what is not enforced', { timeout: 180_000 }, () => {
  test.each(Object.entries(SECTIONS))(
    '%s is refused by name from a file, and nothing is left',
    async (key, value) => {
      const file = await save(join(home.path, 'asks.json'), remote('asks', { [key]: value }))
      const { code, stdout, stderr } = await home.keelson(['run', '--from-config', file])
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toContain(`cannot enforce: ${key} (`)
      expect(await home.ok(['list', '--all'])).not.toContain('asks')
    },
  )

  test('all of them are named at once, also over HTTP', async () => {
    const file = await save(join(home.path, 'all.json'), remote('all', SECTIONS))
    const { stderr } = await home.keelson(['run', '--from-config', file])
    for (const key of Object.keys(SECTIONS)) expect(stderr).toContain(`${key} (`)

    const api = await serve()
    for (const [key, value] of Object.entries(SECTIONS)) {
      const body = { name: 'all', url: 'http://127.0.0.1:9/mcp', [key]: value }
      const answer = await api.ask('POST', path, body)
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(key)])
    }
    expect((await api.ask('GET', `${path}?all=true`)).text).not.toContain('"all"')
  })

  test('is not brought up by a supervisor, a start or an edit; its status says why', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise(resolve => taken.once('listening', resolve))
    const { port } = taken.address() as { port: number }
    await new Promise(resolve => taken.close(resolve))
    await save(fileOf(RUN_CONFIGS, 'open'), remote('open', { port, strict_protocol_validation: true }))
    const then = new Date().toISOString()
    const status = { status: 'running', created_at: then, updated_at: then, process_id: 999_999 }
    await save(fileOf(STATUSES, 'open'), { workload_name: 'open', ...status })

    const pid = await home.supervisor()
    if (pid) process.kill(pid, 'SIGKILL')
    await until(async () => {
      const shown = await home.ok(['status', 'open'])
      expect(shown).toContain('error')
      expect(shown).toContain('strict_protocol_validation')
    })
    await expect(fetch(`http://127.0.0.1:${port}/mcp`)).rejects.toThrow()

    const started = await home.keelson(['start', 'open'])
    expect(started.code).toBe(1)
    expect(started.stderr).toContain('cannot enforce: strict_protocol_validation')
    await expect(fetch(`http://127.0.0.1:${port}/mcp`)).rejects.toThrow()

    const api = await serve()
    const details = (await api.ask('GET', `${path}/open`)).json() as object
    const edited = await api.ask('POST', `${path}/open/edit`, details)
    expect([edited.status, edited.text]).toEqual([400, expect.stringContaining('strict_protocol_validation')])
    await home.ok(['rm', 'open'])
  })

  test('what an export of ToolHive holds although it asks for nothing is taken', async () => {
    const file = await save(join(home.path, 'kept.json'), remote('bookkeeping', BOOKKEEPING))
    expect((await home.keelson(['run', '--from-config', file])).stderr).toContain('bookkeeping is unhealthy')
    await home.ok(['rm', 'bookkeeping'])
  })
})

describe('--env-file-dir', { timeout: 120_000 }, () => {
  const args = (name: string, folder: string) => [
    ...['run', '--runtime', 'docker', '--name', name, '--transport', 'streamable-http'],
    ...['--env-file-dir', folder, '-v', `${isolation}:/srv:ro`, 'keelson-test/node:24'],
    ...['--', 'node', '/srv/server.mjs'],
  ]

  test('is found from where the command is given; without it nothing starts', async context => {
    needsPlace(context, 'docker')
    await mkdir(join(home.path, 'work/vars'), { recursive: true })
    await writeFile(join(home.path, 'work/vars/one'), 'FROM_FOLDER=is here\n')
    const url = await home.ok(args('folder', 'vars'), { cwd: join(home.path, 'work') })
    const client = await clientV1(url)
    expect(textOf(await client.callTool({ name: 'env', arguments: {} }))).toContain('is here')

    await home.ok(['stop', 'folder'])
    await rm(join(home.path, 'work/vars'), { recursive: true })
    const started = await home.keelson(['start', 'folder'])
    expect(started.code).toBe(1)
    expect(started.stderr).toContain(`${join(home.path, 'work/vars')} does not exist`)
    expect(await home.ok(['status', 'folder'])).toMatch(/error[\s\S]*does not exist/)
    await home.ok(['rm', 'folder'])
  })

  test('that is not there, or relative in a file, is an error', async context => {
    needsPlace(context, 'docker')
    const { code, stderr } = await home.keelson(args('nowhere', 'no/such/folder'))
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('no/such/folder does not exist'),
    })
    const config = {
      image: 'keelson-test/node:24',
      runtime: 'docker',
      transport: 'stdio',
      name: 'vague',
      port: 0,
    }
    for (const more of [{ env_file_dir: 'vars' }, { volumes: ['vars:/vars'] }]) {
      const file = await save(join(home.path, 'vague.json'), { ...config, ...more })
      const refused = await home.keelson(['run', '--from-config', file])
      expect(refused.code).toBe(1)
      expect(refused.stderr).toMatch(/relative path|absolute path/)
    }
  })
})

describe.each(['docker', 'podman'] as const)('on %s', { timeout: 240_000 }, place => {
  const ask = (...args: string[]) => spawnSync(place, args, { encoding: 'utf8' }).stdout.trim()
  const label = (name: string) =>
    ask('inspect', '--format', '{{index .Config.Labels "keelson-network-isolation"}}', name)
  const policy = (name: string) => ask('inspect', '--format', '{{.HostConfig.RestartPolicy.Name}}', name)
  const networkOf = (name: string) =>
    ask('network', 'ls', '--filter', `label=keelson-name=${name}`, '--format', '{{.Name}}')
  const rules = (network: string) =>
    (spawnSync('iptables', ['-t', 'mangle', '-S', 'PREROUTING'], { encoding: 'utf8' }).stdout ?? '')
      .split('\n')
      .filter(line => line.includes(` ${network}"`))
  /** As `export` writes it, but for the member that says whether it is isolated. */
  const silent = (name: string) => ({
    ...{ schema_version: 'v0.1.0', name, transport: 'streamable-http', port: 0, runtime: place },
    ...{
      image: 'keelson-test/node:24',
      volumes: [`${isolation}:/srv:ro`],
      cmd_args: ['node', '/srv/server.mjs'],
    },
  })

  test('a run config that does not mention isolation runs isolated, from a file and from the state folder', async context => {
    needsPlace(context, place)
    const name = `silent-${place}`
    const file = await save(join(home.path, `${name}.json`), silent(name))
    await home.ok(['run', '--from-config', file])
    expect(label(name)).toBe('true')
    const saved = JSON.parse(await readFile(fileOf(RUN_CONFIGS, name), 'utf8'))
    await home.ok(['stop', name])

    await save(fileOf(RUN_CONFIGS, name), { ...saved, isolate_network: undefined })
    await home.ok(['start', name])
    expect(label(name)).toBe('true')
    await home.ok(['stop', name])

    await save(fileOf(RUN_CONFIGS, name), { ...saved, isolate_network: false })
    await home.ok(['start', name])
    expect(label(name)).toBe('false')

    // A supervisor that takes over what runs open, and is to be isolated, does not leave it like that.
    await save(fileOf(RUN_CONFIGS, name), { ...saved, isolate_network: undefined })
    process.kill(await home.supervisor(), 'SIGKILL')
    await home.ok(['list'])
    await until(() => expect(label(name)).toBe('true'))
    await home.ok(['rm', name])
  })

  test('a container is never started by its engine, and after a reboot comes up behind its firewall rules', async context => {
    needsPlace(context, place)
    const name = `boot-${place}`
    const url = await home.ok([
      ...['run', '--runtime', place, '--name', name, '--transport', 'streamable-http'],
      ...['-v', `${isolation}:/srv:ro`, 'keelson-test/node:24', '--', 'node', '/srv/server.mjs'],
    ])
    expect(['no', '']).toContain(policy(name))
    const network = networkOf(name)
    const service = createServer(socket => socket.end('open')).listen(0, '0.0.0.0')
    onTestFinished(() => void service.close())
    await new Promise(resolve => service.once('listening', resolve))
    const { port } = service.address() as { port: number }

    // What a reboot leaves: containers and networks on disk; no process, no rule.
    await home.powerOff()
    ask('kill', name)
    for (const rule of rules(network)) {
      const words = rule.replace(/^-A /, '').match(/"[^"]*"|\S+/g) ?? []
      spawnSync('iptables', ['-t', 'mangle', '-D', ...words.map(word => word.replaceAll('"', ''))])
    }
    expect(rules(network)).toEqual([])
    expect(ask('inspect', '--format', '{{.State.Running}}', name)).toBe('false')

    await home.ok(['list'])
    await until(async () => {
      const client = await clientV1(url)
      const env = JSON.parse(textOf(await client.callTool({ name: 'env', arguments: {} })))
      const gateway = new URL(env.HTTP_PROXY).hostname
      const targets = [{ host: gateway, port }]
      const found = JSON.parse(textOf(await client.callTool({ name: 'scan', arguments: { targets } })))
      expect(found).toEqual([expect.stringMatching(/^shut: /)])
    })
    expect(rules(network).length).toBeGreaterThan(0)
    expect(['no', '']).toContain(policy(name))
    await home.ok(['rm', name])
  })
})

describe('a flag that can have no effect', { timeout: 240_000 }, () => {
  const url = 'https://remote.invalid/mcp'
  const situation = {
    argument: url,
    kind: 'remote',
    fromRegistry: false,
    transport: 'streamable-http',
  } as const
  const useless = Object.keys(FLAG_EFFECTS).filter(
    flag => FLAG_EFFECTS[flag]?.(situation, 'sse') !== undefined,
  )

  test('is refused by name for a URL, each one, and nothing is left', async () => {
    const samples = flagSamples(home.path)
    expect(useless.length).toBeGreaterThan(20)
    for (const flag of useless) {
      const shown = await home.keelson(['run', url, '--name', 'useless', ...(samples[flag]?.written ?? [])])
      expect([flag, shown.code]).toEqual([flag, 2])
      expect(shown.stderr).toContain(`--${flag} does not go with `)
    }
    expect(await home.ok(['list', '--all'])).not.toContain('useless')
  })

  test('is refused beside --from-config, as are a target and arguments', async () => {
    const file = await save(join(home.path, 'alone.json'), remote('alone'))
    for (const [more, named] of [
      [['example/image'], 'the target example/image'],
      [['--', 'x'], 'arguments behind --'],
      [['--env', 'A=1'], '--env'],
      [['--runtime', 'process'], '--runtime does not go with'],
      [['--ca-cert', file], '--ca-cert does not go with'],
    ] as const) {
      const shown = await home.keelson(['run', '--from-config', file, ...more])
      expect(shown.code).toBe(2)
      expect(shown.stderr).toContain(named)
    }
  })

  test('is refused for a remote server of the registry once that is known', async () => {
    const far = {
      url,
      transport: 'streamable-http',
      description: 'far',
      tools: ['a'],
      status: 'Active',
      tier: 'Community',
    }
    const document = {
      version: '1.0.0',
      last_updated: '2026-01-01T00:00:00Z',
      servers: {},
      remote_servers: { far },
    }
    const file = await save(join(home.path, 'registry.json'), document)
    await home.ok(['config', 'set-registry', file])
    for (const flag of ['volume', 'memory', 'isolate-network', 'build-with']) {
      const written = flagSamples(home.path)[flag]?.written ?? []
      const shown = await home.keelson(['run', 'far', '--name', 'useless', ...written])
      expect([flag, shown.code]).toEqual([flag, 2])
      expect(shown.stderr).toContain(`--${flag} does not go with`)
    }
  })
})
