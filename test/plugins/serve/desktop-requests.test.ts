import { execFile } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { needsPlace } from '../../e2e/places-to-run.ts'
import { type ApiServer, startApi } from '../../support/api-server.ts'
import { userWithSecrets } from '../../support/keelson.ts'
import { startTinyMcp } from '../../support/tiny-mcp.ts'

// Bodies as forms of desktop applications make them for ToolHive's API: all members that a form has, most of
// them empty. `$NAME` stands for what only a run of the test knows.

const folder = new URL('../../../fixtures/desktop-requests/', import.meta.url)
const servers = new URL('../../../fixtures/upgrades', import.meta.url).pathname
const skill = new URL('../../../fixtures/skills/csv-report', import.meta.url).pathname
const path = '/api/v1beta/workloads'
const IMAGE = 'keelson-test/node:24'

interface Flow {
  readonly method: string
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
}

/** What has to be there before the others. */
const FIRST = ['group', 'secret', 'client-in-group', 'clients', 'skill-build']

async function readFlows(values: Readonly<Record<string, string>>): Promise<[name: string, flow: Flow][]> {
  const files = (await readdir(folder)).filter(file => !file.startsWith('package-'))
  const names = files.map(file => file.replace('.json', ''))
  const isEdit = (name: string) => name.startsWith('edit-')
  const order = [
    ...FIRST,
    ...names.filter(name => !FIRST.includes(name) && !isEdit(name)),
    ...names.filter(isEdit),
  ]
  return Promise.all(
    order.map(async (name): Promise<[string, Flow]> => {
      const text = await readFile(new URL(`${name}.json`, folder), 'utf8')
      return [name, JSON.parse(text.replace(/\$([A-Z_]+)/g, (_, key: string) => values[key] ?? ''))]
    }),
  )
}

/** An entry for each kind of server. */
const registry = (url: string) => {
  const common = { description: 'An entry', tools: ['version'], status: 'Active', tier: 'Community' }
  return {
    version: '1.0.0',
    last_updated: '2026-01-01T00:00:00Z',
    servers: {
      'io.example/notes': {
        ...common,
        image: IMAGE,
        transport: 'stdio',
        args: ['node', '/srv/versioned-server.mjs'],
        env_vars: [{ name: 'REGION', description: 'Where', required: false, default: 'eu' }],
      },
    },
    remote_servers: { 'io.example/far': { ...common, url, transport: 'streamable-http' } },
  }
}

const run = promisify(execFile)

async function startDesktop(): Promise<{ api: ApiServer; values: Record<string, string>; tag: string }> {
  const url = await startTinyMcp()
  const user = await userWithSecrets()
  const file = join(user.home, 'registry.json')
  await writeFile(file, JSON.stringify(registry(url)))
  expect(await user.run(['config', 'set-registry', file])).toMatchObject({ code: 0 })
  expect(await user.run(['config', 'set-unsigned-skills', 'allowed'])).toMatchObject({ code: 0 })
  expect(await user.run(['secret', 'set', 'TOKEN'], { input: 'hidden' })).toMatchObject({ code: 0 })
  const api = await startApi({ user })
  const tag = `desktop-${process.pid}`
  const other = `keelson-test/desktop:${process.pid}`
  await run('docker', ['tag', IMAGE, other])
  onTestFinished(async () => {
    await api.ask('POST', `${path}/delete`, { group: 'default' })
    const left = async () => (await api.ask('GET', `${path}?all=true`)).json() as { workloads: unknown[] }
    await expect.poll(async () => (await left()).workloads, { timeout: 120_000 }).toEqual([])
    await run('docker', ['rmi', other])
  })
  return { api, values: { URL: url, IMAGE, OTHER_IMAGE: other, SERVERS: servers, SKILL: skill }, tag }
}

/** What an application sees of a flow afterwards, in the details. */
const SEEN: Readonly<Record<string, object>> = {
  'registry-image': { transport: 'stdio', env_vars: { REGION: 'eu' }, network_isolation: true },
  'image-not-isolated': { network_isolation: false },
  'image-host-network': { permission_profile: { network: { mode: 'host' } }, network_isolation: false },
  'image-isolated-selected': {
    permission_profile: { network: { outbound: { allow_host: ['example.com'], allow_port: [443] } } },
    allow_docker_gateway: true,
  },
  'image-http': { transport: 'streamable-http', target_port: 8080 },
  'image-without-transport': { transport: 'stdio' },
  'image-selected-tools': { tools: ['which'], tools_override: { version: { name: 'which' } } },
  'remote-bearer-token': { oauth_config: { bearer_token: { name: 'TOKEN' } } },
  'remote-oauth': { oauth_config: { client_id: 'desktop', client_secret: { name: 'TOKEN' } } },
  'remote-oidc': { oauth_config: { issuer: 'https://login.example', callback_port: 18667 } },
  'remote-plain-header': { header_forward: { add_plaintext_headers: { 'X-Team': 'a' } } },
  'remote-secret-header': { header_forward: { add_headers_from_secret: { 'X-Key': 'TOKEN' } } },
  'export-of-toolhive': {
    oauth_config: { issuer: 'https://login.example', client_secret: { name: 'TOKEN' } },
  },
}

/** Those that must run: the others name a login that nobody offers. */
const RUNS = /^(image|registry|details|remote-(without|plain|secret|selected|dynamic|bearer))/

test('each request of a desktop application is done, and what is shown of it can be sent back', async context => {
  needsPlace(context, 'docker')
  const { api, values, tag } = await startDesktop()
  const names: string[] = []
  for (const [flow, { method, path: where, body }] of await readFlows(values)) {
    const own = { ...body, ...(where === path ? { name: `${tag}-${flow}` } : {}) }
    const sent = await api.ask(method, where.replace(/workloads\//, `workloads/${tag}-`), own)
    expect([flow, sent.status, sent.text]).toEqual([flow, expect.toSatisfy(isDone), expect.any(String)])
    if (where !== path) continue
    names.push(flow)
    const details = (await api.ask('GET', `${path}/${tag}-${flow}`)).json()
    expect(details, flow).toMatchObject(SEEN[flow] ?? {})
  }
  for (const flow of names.filter(name => RUNS.test(name))) await api.untilStatus(`${tag}-${flow}`, 'running')

  for (const flow of names) {
    const details = (await api.ask('GET', `${path}/${tag}-${flow}`)).json() as object
    const edited = await api.ask('POST', `${path}/${tag}-${flow}/edit`, details)
    expect([flow, edited.status, edited.text]).toEqual([flow, 200, expect.any(String)])
    expect((await api.ask('GET', `${path}/${tag}-${flow}`)).json(), flow).toEqual(details)
  }
}, 400_000)

test('the export of each remote server can be posted as a new one', async context => {
  needsPlace(context, 'docker')
  const { api, values } = await startDesktop()
  for (const [flow, { body }] of await readFlows(values)) {
    if (!flow.startsWith('remote-')) continue
    expect((await api.ask('POST', path, body)).status, flow).toBe(201)
    const exported = (await api.ask('GET', `${path}/${body.name}/export`)).json() as object
    const again = await api.ask('POST', path, { ...exported, name: `${flow}-again` })
    expect([flow, again.status, again.text]).toEqual([flow, 201, expect.any(String)])
    const details = async (name: unknown) => {
      const {
        name: _,
        proxy_port,
        ...rest
      } = (await api.ask('GET', `${path}/${name}`)).json() as Flow['body']
      return rest
    }
    expect(await details(`${flow}-again`), flow).toEqual(await details(body.name))
  }
}, 120_000)

const isDone = (status: number): boolean => status >= 200 && status < 300
