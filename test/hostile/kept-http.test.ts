import { spawnSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { needsPlace } from '../e2e/places-to-run.ts'
import { type ApiServer, startApi } from '../support/api-server.ts'
import { freePort } from '../support/free-port.ts'
import { plantPackage, STRANGER } from '../support/hostile/plant-package.ts'
import { keelsonUser, userWithSecrets } from '../support/keelson.ts'
import { startTinyMcp } from '../support/tiny-mcp.ts'

// What a request over HTTP asks for is done or refused; nothing of it is dropped, and no edit drops it.

const isolation = new URL('../../fixtures/isolation', import.meta.url).pathname
const path = '/api/v1beta/workloads'
const IMAGE = 'keelson-test/node:24'

type Config = Record<string, unknown>

const exported = async (api: ApiServer, name: string) =>
  (await api.ask('GET', `${path}/${name}/export`)).json() as Config
const details = async (api: ApiServer, name: string) =>
  (await api.ask('GET', `${path}/${name}`)).json() as Config

/** The run config as it is on disk. */
const stored = async (api: ApiServer, name: string): Promise<Config> =>
  JSON.parse(await readFile(fileOf(api, name), 'utf8'))
const fileOf = (api: ApiServer, name: string) =>
  join(api.user.home, '.local/state/keelson/runconfigs', `${name}.json`)

async function create(api: ApiServer, body: Config): Promise<void> {
  const made = await api.ask('POST', path, body)
  expect([made.status, made.text]).toEqual([201, expect.any(String)])
  onTestFinished(async () => {
    await api.ask('DELETE', `${path}/${body.name}`)
    await expect
      .poll(async () => (await api.ask('GET', `${path}/${body.name}`)).status, { timeout: 60_000 })
      .toBe(404)
  })
}

async function editUnchanged(api: ApiServer, name: string): Promise<void> {
  const edited = await api.ask('POST', `${path}/${name}/edit`, await details(api, name))
  expect([edited.status, edited.text]).toEqual([200, expect.stringContaining(name)])
}

/** The run config after an unchanged edit: what the details show is written out. */
const writtenOut = (config: Config): Config => ({
  host: '127.0.0.1',
  proxy_mode: config.transport === 'stdio' ? 'streamable-http' : config.transport,
  ...config,
})

/** All that a remote server can be asked to be. */
const REMOTE = {
  transport: 'sse',
  allowed_origins: ['https://app.example'],
  endpoint_prefix: '/here',
  max_body_bytes: 1_000_000,
  protocol: 'legacy',
  session_ttl: '30m0s',
  audit_config: { component: 'mine', hashChain: true, excludeEventTypes: ['mcp_ping'] },
  remote_must_be_public: true,
  trust_proxy_headers: true,
  debug: true,
}

const login = { oidc_config: { issuer: 'https://login.example', audience: 'tools', scopes: ['read'] } }
const EXCHANGE = { token_url: 'https://login.example/token', client_id: 'us' }
const upstreams = [
  { name: 'first', type: 'oidc', oidc_config: { issuer_url: 'https://login.example', client_id: 'us' } },
]

/** Credentials of callers for a remote server, with all that these members can say without secrets. */
const CREDENTIALS: [string, Config][] = [
  [
    'token_exchange_config',
    {
      ...login,
      token_exchange_config: {
        token_url: 'https://login.example/token',
        client_id: 'us',
        audience: 'https://api.example',
        resource: 'https://api.example/mcp',
        scopes: ['read'],
        subject_token_type: 'jwt',
        header_strategy: 'custom',
        external_token_header_name: 'X-Token',
        actor_is_client: true,
      },
    },
  ],
  [
    'aws_sts_config',
    {
      ...login,
      aws_sts_config: {
        region: 'eu-west-1',
        service: 'aws-mcp',
        role_mappings: [{ claim: 'admins', role_arn: 'arn:aws:iam::123456789012:role/a', priority: 1 }],
        fallback_role_arn: 'arn:aws:iam::123456789012:role/b',
        role_claim: 'groups',
        session_name_claim: 'email',
        session_duration: 900,
      },
    },
  ],
  [
    'upstream_swap_config',
    {
      embedded_auth_server_config: { upstreams },
      upstream_swap_config: {
        provider_name: 'first',
        header_strategy: 'custom',
        custom_header_name: 'X-Token',
      },
    },
  ],
]

/** All that a server of this machine can be asked to be, but for what goes only with others. */
const asked = (folder: string, published: number) => ({
  runtime: 'docker',
  image: IMAGE,
  cmd_args: ['node', '/srv/server.mjs'],
  transport: 'streamable-http',
  target_host: '0.0.0.0',
  target_port: 8080,
  publish: [`${published}:80`],
  volumes: [`${isolation}:/srv:ro`],
  env_vars: { A: '1' },
  env_file_dir: folder,
  secrets: ['token,target=TOKEN'],
  container_labels: { team: 'a' },
  permission_profile_name_or_path: 'none',
  isolate_network: true,
  allow_docker_gateway: true,
  ignore_config: { loadGlobal: false, printOverlays: true },
  resources: { memory: '256m', cpus: '0.5' },
  image_verification: 'disabled',
  allowed_origins: ['https://app.example'],
  max_body_bytes: 1_000_000,
  session_ttl: '30m0s',
  stateless: true,
  audit_config: { component: 'mine', includeRequestData: true },
  debug: true,
})

describe('over HTTP', { timeout: 240_000 }, () => {
  test('every member of a new workload takes effect, and edits and exports lose none', async context => {
    needsPlace(context, 'docker')
    const user = await userWithSecrets()
    expect(await user.run(['secret', 'set', 'token'], { input: 'hidden' })).toMatchObject({ code: 0 })
    const folder = join(user.home, 'vars')
    await mkdir(folder)
    await writeFile(join(folder, 'one'), 'FROM_FOLDER=here\n')
    const api = await startApi({ user })
    const name = `kept-http-${process.pid}`
    const body = asked(folder, await freePort())
    await create(api, { name, ...body })
    await api.untilStatus(name, 'running')

    const none = { name: 'none', network: { outbound: {} } }
    const made = await stored(api, name)
    expect(made).toMatchObject({ ...body, permission_profile: none })
    const inspect = (format: string) =>
      spawnSync('docker', ['inspect', '--format', format, name], { encoding: 'utf8' }).stdout.trim()
    const seen = () => ({
      limits: inspect('{{.HostConfig.Memory}} {{.HostConfig.NanoCpus}}'),
      label: inspect('{{.Config.Labels.team}}'),
      isolated: inspect('{{index .Config.Labels "keelson-network-isolation"}}'),
      env: JSON.parse(inspect('{{json .Config.Env}}')).includes('FROM_FOLDER=here'),
      host: JSON.parse(inspect('{{json .Config.Env}}')).includes('MCP_HOST=0.0.0.0'),
    })
    const wanted = {
      limits: `${256 * 2 ** 20} 500000000`,
      ...{ label: 'a', isolated: 'true', env: true, host: true },
    }
    expect(seen()).toEqual(wanted)

    await editUnchanged(api, name)
    await api.untilStatus(name, 'running')
    expect(await stored(api, name)).toEqual(writtenOut(made))
    expect(seen()).toEqual(wanted)

    const again = `${name}-again`
    await create(api, { ...(await exported(api, name)), name: again })
    const { name: _, base_name, container_name, port, ...kept } = made
    expect(await stored(api, again)).toMatchObject(kept)
  })

  test('the members of a remote server take effect, and edits and exports lose none', async () => {
    const api = await startApi()
    const url = await startTinyMcp()
    await create(api, { name: 'a', url, ...REMOTE })
    const made = await stored(api, 'a')
    expect(made).toMatchObject({ remote_url: url, ...REMOTE })
    await editUnchanged(api, 'a')
    expect(await stored(api, 'a')).toEqual(writtenOut(made))

    await create(api, { ...(await exported(api, 'a')), name: 'b' })
    expect(await stored(api, 'b')).toMatchObject({ remote_url: url, ...REMOTE })
  })

  test.each(CREDENTIALS)(
    '%s takes effect, edits and exports keep it, and no other server gets what it is for',
    async (member, credentials) => {
      const api = await startApi()
      const [url, other] = [await startTinyMcp(), await startTinyMcp()]
      await create(api, { name: 'a', url, ...credentials })
      const made = await stored(api, 'a')
      expect(made).toMatchObject({ remote_url: url, ...credentials })
      expect((await details(api, 'a'))[member]).toEqual(made[member])
      await editUnchanged(api, 'a')
      expect(await stored(api, 'a')).toEqual(writtenOut(made))
      await create(api, { ...(await exported(api, 'a')), name: 'b' })
      expect(await stored(api, 'b')).toMatchObject({ remote_url: url, ...credentials })

      const edit = async (name: string, body: Config) => {
        const { status, text } = await api.ask('POST', `${path}/${name}/edit`, body)
        expect([status, text]).toEqual([200, expect.any(String)])
        return (await stored(api, name))[member]
      }
      expect(await edit('a', { url })).toEqual(made[member])
      expect(await edit('a', { url: other })).toBeUndefined()
      expect(await edit('b', { url, [member]: null })).toEqual(made[member])
      expect(await edit('b', { url, [member]: {} })).toBeUndefined()
      expect(await edit('b', { url, [member]: credentials[member as never] })).toEqual(made[member])
    },
  )

  test('what only entries of middleware_configs say takes effect; what they say otherwise is refused', async () => {
    const api = await startApi()
    const url = await startTinyMcp()
    const entries = (more: object) => [
      { type: 'auth', parameters: { oidc_config: { Issuer: 'https://login.example', ...more } } },
      { type: 'tokenexchange', parameters: { token_exchange_config: EXCHANGE } },
      { type: 'recovery', parameters: null },
    ]
    const body = { name: 'a', url, oidc_config: { issuer: 'https://login.example', audience: 'tools' } }
    const refused = await api.ask('POST', path, { ...body, middleware_configs: entries({ Audience: 'all' }) })
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('"auth"')])

    await create(api, { ...body, middleware_configs: entries({ Audience: 'tools' }) })
    expect(await stored(api, 'a')).toMatchObject({ token_exchange_config: EXCHANGE })
  })

  test('a package stays a package in an edit, and out of an export', async () => {
    const user = await keelsonUser()
    await plantPackage(user.home)
    const api = await startApi({ user })
    const limits = { resources: { memory: '128m' }, permission_profile_name_or_path: 'none' }
    await create(api, { name: 'a', image: STRANGER, runtime: 'process', ...limits })
    await api.untilStatus('a', 'running')
    const made = await stored(api, 'a')
    expect(made).toMatchObject({ source: STRANGER, runtime: 'process', ...limits })
    await editUnchanged(api, 'a')
    expect(await stored(api, 'a')).toEqual(writtenOut(made))

    await create(api, { ...(await exported(api, 'a')), name: 'b' })
    expect(await stored(api, 'b')).toMatchObject({ source: STRANGER, image: made.image, ...limits })
  })

  test('an edit keeps where a server came from, unless it is of another one', async () => {
    const api = await startApi()
    const [url, other] = [await startTinyMcp(), await startTinyMcp()]
    await create(api, { name: 'a', url })
    const origin = {
      registry_server_name: 'com.example/a',
      registry_source: 'https://registry.example',
      registry_env_vars: ['A'],
      remote_must_be_public: false,
    }
    await writeFile(
      fileOf(api, 'a'),
      JSON.stringify({ ...(await stored(api, 'a')), ...origin, env_vars: { A: '1' } }),
    )
    const made = await stored(api, 'a')
    await editUnchanged(api, 'a')
    expect(await stored(api, 'a')).toEqual(writtenOut(made))

    const edited = await api.ask('POST', `${path}/a/edit`, { url: other })
    expect(edited.status).toBe(200)
    const { registry_server_name } = await stored(api, 'a')
    expect(registry_server_name).toBeUndefined()
  })

  test('an edit replaces what its body names, and takes away what it has empty', async () => {
    const user = await keelsonUser()
    await plantPackage(user.home)
    const api = await startApi({ user })
    const limits = { resources: { memory: '128m' }, container_labels: { team: 'a' } }
    const profile = { permission_profile_name_or_path: 'none' }
    await create(api, { name: 'a', image: STRANGER, runtime: 'process', ...limits, ...profile })
    await api.untilStatus('a', 'running')
    const edit = (body: object) => api.ask('POST', `${path}/a/edit`, { image: STRANGER, ...body })

    expect((await edit({ resources: { memory: '256m' } })).status).toBe(200)
    expect(await stored(api, 'a')).toMatchObject({ ...limits, ...profile, resources: { memory: '256m' } })
    expect((await edit({ resources: {}, container_labels: {} })).status).toBe(200)
    const cleared = await stored(api, 'a')
    expect([cleared.resources, cleared.container_labels]).toEqual([undefined, undefined])
    expect(cleared).toMatchObject({ permission_profile: { name: 'none' } })

    const open = { network: { outbound: { insecure_allow_all: true } } }
    expect((await edit({ permission_profile: open })).status).toBe(200)
    const opened = await stored(api, 'a')
    expect(opened.permission_profile).toEqual(open)
    expect(opened.permission_profile_name_or_path).toBeUndefined()
    expect((await edit(profile)).status).toBe(200)
    expect(await stored(api, 'a')).toMatchObject({ ...profile, permission_profile: { name: 'none' } })
  })

  test('what cannot be done is refused by name, and nothing is left', async () => {
    const user = await keelsonUser()
    await plantPackage(user.home)
    const api = await startApi({ user })
    const url = await startTinyMcp()
    const local = { image: STRANGER, runtime: 'process' }
    for (const [body, status, named] of [
      [
        { ...local, permission_profile_name_or_path: '/etc/profile.json' },
        400,
        'permission_profile_name_or_path',
      ],
      [{ ...local, env_file_dir: '/nonexistent' }, 404, '/nonexistent'],
      [{ ...local, env_file_dir: join(user.home, 'nowhere') }, 404, 'nowhere'],
      [{ ...local, resources: { memory: 'much' } }, 400, 'memory'],
      [{ ...local, resources: { cpus: 'all' } }, 400, 'cpus'],
      [{ ...local, publish: ['x'] }, 400, 'publish'],
      [{ ...local, container_labels: { ' ': '' } }, 400, 'label'],
      [{ ...local, image_verification: 'maybe' }, 400, 'image_verification'],
      [{ ...local, transport: 'stdio', target_host: '0.0.0.0' }, 400, 'target-host'],
      [{ ...local, runtime: 'nothing' }, 400, 'nothing'],
      [{ url, session_ttl: 'long' }, 400, 'session_ttl'],
      [{ url, max_body_bytes: 10 }, 400, 'max-body-size'],
      [{ url, allowed_origins: ['x'] }, 400, 'allowed-origins'],
      [{ url, endpoint_prefix: '/a' }, 400, 'endpoint-prefix'],
      [{ url, remote_url: 'http://127.0.0.1:9/mcp' }, 400, 'needs one of'],
      [{ url, image_verification: 'enabled' }, 400, 'image-verification'],
      [{ url, resources: { memory: '64m' } }, 400, 'memory'],
      [{ url, publish: ['80'] }, 400, 'publish'],
      [{ url, env_file_dir: user.home }, 400, 'env-file-dir'],
      [{ url, permission_profile_name_or_path: 'none' }, 400, 'permission-profile'],
      [{ url, ignore_config: { loadGlobal: false } }, 400, 'ignore-globally'],
      [{ url, ...login, token_exchange_config: { token_url: 'http://far.example' } }, 400, 'token_url'],
      [
        { url, ...login, token_exchange_config: { ...EXCHANGE, client_secret_file: '/etc/passwd' } },
        400,
        '/etc/passwd sent to https://login.example/token',
      ],
      [
        { url, ...login, token_exchange_config: { ...EXCHANGE, actor_token_file: '/etc/passwd' } },
        400,
        '/etc/passwd',
      ],
      [{ url, token_exchange_config: EXCHANGE }, 400, 'its callers do not log in'],
      [{ url, ...login, aws_sts_config: { region: 'eu-west-1' } }, 400, 'role_mappings'],
      [{ url, ...login, upstream_swap_config: { provider_name: 'a' } }, 400, 'embedded_auth_server_config'],
      [{ url, oidc_config: { ...login.oidc_config, clientSecretFile: '/etc/passwd' } }, 400, '/etc/passwd'],
      [{ url, ...login, jwks_auth_token_file: '/etc/passwd' }, 400, '/etc/passwd'],
      [{ url, ...login, oidc: { issuer: 'https://login.example' } }, 400, 'both oidc and oidc_config'],
    ] as const) {
      const answer = await api.ask('POST', path, { name: 'no', ...body })
      expect([body, answer.status, answer.text]).toEqual([body, status, expect.stringContaining(named)])
    }
    expect((await api.ask('GET', `${path}?all=true`)).json()).toEqual({ workloads: [] })
  })

  test('an unsigned image is refused when a signature is required, and no edit lowers that', async context => {
    needsPlace(context, 'docker')
    const api = await startApi()
    const name = `kept-mode-${process.pid}`
    const body = { name, image: IMAGE, runtime: 'docker', cmd_arguments: ['node', '-e', ''] }
    const refused = await api.ask('POST', path, { ...body, image_verification: 'enabled' })
    expect(refused.status).toBeGreaterThanOrEqual(400)
    expect(refused.text).toMatch(/sign|verif/)
    expect((await api.ask('GET', `${path}?all=true`)).json()).toEqual({ workloads: [] })

    await create(api, body)
    for (const [image_verification, named] of [
      ['disabled', 'disabled'],
      ['maybe', 'image_verification must have this form: One of warn, enabled, disabled'],
    ]) {
      const edited = await api.ask('POST', `${path}/${name}/edit`, { ...body, image_verification })
      expect([edited.status, edited.text]).toEqual([400, expect.stringContaining(`${named}`)])
    }
    expect(await stored(api, name)).toMatchObject({ image_verification: 'warn' })
  })
})

test('a consent that is only described is none', async () => {
  const user = await keelsonUser()
  const notes = join(user.home, 'notes')
  await mkdir(notes)
  const entry = {
    ...{
      image: IMAGE,
      transport: 'stdio',
      description: 'notes',
      tools: ['a'],
      status: 'Active',
      tier: 'Community',
    },
    permissions: { read: [`${notes}:/notes`] },
  }
  const file = join(user.home, 'registry.json')
  const document = { version: '1.0.0', last_updated: '2026-01-01T00:00:00Z', servers: { notes: entry } }
  await writeFile(file, JSON.stringify(document))
  expect(await user.run(['config', 'set-registry', file])).toMatchObject({ code: 0 })
  const api = await startApi({ user })
  const body = { name: 'a', registry: 'default', server: 'notes' }
  const first = await api.ask('POST', path, body)
  expect(first.status).toBe(409)
  const { wanted_permissions: wanted } = first.json() as { wanted_permissions: { hash: string } }
  const again = await api.ask('POST', path, { ...body, accepted_permissions: wanted.hash })
  expect([again.status, again.text]).toEqual([409, expect.stringContaining('permissions_unaccepted')])
})
