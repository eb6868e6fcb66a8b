import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { clientV1 } from '../../e2e/clients.ts'
import { startApi } from '../../support/api-server.ts'
import { plantPackage, STRANGER } from '../../support/hostile/plant-package.ts'
import { readEvents } from '../audit/audited-proxy.ts'
import { testHome } from '../auth-out/guarded-server.ts'
import { post, rpc } from '../proxy/test-proxy.ts'
import { cedar, offeringServer } from './authz-world.ts'

const slow = { timeout: 120_000 }

const policies = (effect: string) => `version: "1.0"
type: cedarv1
cedar:
  policies:
    - |
      @id("the-shell")
      ${effect}(principal, action == Action::"call_tool", resource);
`

test('the policies of a file count for a stdio server, as the file is now', slow, async () => {
  const home = await testHome({ secrets: false })
  await plantPackage(home.path)
  const file = join(home.path, 'policies.yaml')
  await writeFile(file, policies('permit'))
  const flags = ['--runtime', 'process', '--permission-profile', 'none', '--enable-audit']
  const run = (name: string) => ['run', STRANGER, '--name', name, ...flags, '--authz-config', 'policies.yaml']
  const url = (await home.ok(run('near'))).trim()
  const client = await clientV1(url)
  const { tools } = await client.listTools()
  const name = tools[0]?.name ?? ''
  const call = () => client.callTool({ name, arguments: { command: 'true' } })
  await call()
  const batch = await post(url, `[${rpc('tools/call', 1, { name })}]`)
  expect([batch.status, (await post(url, rpc('tools/execute', 1))).status]).toEqual([400, 403])

  await writeFile(file, policies('forbid'))
  await expect.poll(() => call().then(String, String)).toContain('Unauthorized')
  expect((await client.listTools()).tools).toEqual([])
  await writeFile(file, policies('permit').replace('resource)', 'reso'))
  const log = () => readFile(join(home.path, '.local/share/keelson/logs/near.log'), 'utf8')
  await expect.poll(log).toContain('the policies stay as they were')
  await expect(call()).rejects.toThrow('Unauthorized')
  const broken = await home.keelson(run('wrong'))
  expect([broken.code, broken.stdout]).toEqual([2, ''])
  expect(broken.stderr).toContain(`${file} does not say what callers may do: line 7, column 60: `)
  expect(await home.ok(['list', '--all'])).not.toContain('wrong')
  await writeFile(file, policies('permit'))
  await expect.poll(() => call().then(() => true, String)).toBe(true)
  await client.close()

  const misspelled = policies('permit').replace('resource);', 'resource == Tool::"shel");')
  await writeFile(join(home.path, 'misspelled.yaml'), misspelled)
  const linted = await home.keelson(['authz', 'lint', 'misspelled.yaml', '--server', 'near'])
  expect([linted.code, linted.stdout]).toEqual([
    1,
    'misspelled.yaml:6:7: the-shell: the server shows no tool "shel"; did you mean shell?',
  ])

  const events = readEvents(join(home.path, '.local/share/keelson/audit/near.jsonl'))
  const decisions = events
    .filter(({ type }) => type === 'mcp_tool_call')
    .map(({ outcome, metadata }) => [outcome, metadata.extra.decision])
  const decision = (allowed: boolean) => ({ allowed, policies: ['the-shell'] })
  expect(decisions[0]).toEqual(['success', decision(true)])
  expect(decisions).toContainEqual(['denied', decision(false)])
  await home.ok(['rm', 'near'])
})

test(
  'a stranger’s run config only denies more, and names neither file nor decision point',
  slow,
  async () => {
    const home = await testHome({ secrets: false })
    const { target } = await offeringServer()
    const save = (more: object) =>
      writeFile(
        join(home.path, 'far.json'),
        JSON.stringify({
          ...{ schema_version: 'v0.1.0', name: 'far', transport: 'streamable-http', port: 0 },
          ...{ remote_url: target, ...more },
        }),
      )
    const run = ['run', '--from-config', 'far.json']
    const pdp = { http: { url: 'https://evil.example' }, claim_mapping: 'standard' }
    for (const more of [
      { authz_config_path: '/etc/hostname' },
      { authz_config: { version: '1.0', type: 'httpv1', pdp } },
    ]) {
      await save(more)
      const shown = await home.keelson(run)
      expect([shown.code, shown.stdout]).toEqual([2, ''])
      expect(shown.stderr).toContain('with --authz-config')
    }
    const denied = cedar('forbid(principal, action, resource);')
    await save({
      authz_config: denied,
      middleware_configs: [{ type: 'authorization', parameters: { config_data: denied } }],
    })
    const url = (await home.ok(run)).trim()
    expect((await post(url, rpc('tools/call', 1, { name: 'a' }))).status).toBe(403)
    expect((await post(url, rpc('ping', 1))).status).toBe(200)
    await home.ok(['export', 'far', 'out.json'])
    expect(JSON.parse(await readFile(join(home.path, 'out.json'), 'utf8')).authz_config).toEqual(denied)
  },
)

test('over HTTP policies are set, shown and kept, and no decision point is named', slow, async () => {
  const api = await startApi()
  const workloads = '/api/v1beta/workloads'
  const { target } = await offeringServer()
  const body = { name: 'a', url: target }
  const pdp = { http: { url: 'https://evil.example' }, claim_mapping: 'standard' }
  for (const authz_config of [
    { version: '1.0', type: 'httpv1', pdp },
    cedar('permit(principal);'),
    { ...cedar('permit(principal, action, resource);'), version: '' },
    '/nowhere/policies.json',
    'policies.json',
  ]) {
    const made = await api.ask('POST', workloads, { ...body, authz_config })
    expect([authz_config, made.status]).toEqual([authz_config, expect.toBeOneOf([400, 404])])
  }
  const authz_config = cedar('permit(principal, action, resource == Tool::"a");')
  expect((await api.ask('POST', workloads, { ...body, authz_config })).status).toBe(201)
  await api.untilStatus('a', 'running')
  const statuses = async () => {
    const { proxy_port } = (await api.ask('GET', `${workloads}/a`)).json()
    const ask = (name: string) =>
      post(`http://127.0.0.1:${proxy_port}/mcp`, rpc('tools/call', 1, { name })).then(({ status }) => status)
    return [await ask('a'), await ask('b')]
  }
  expect(await statuses()).toEqual([200, 403])
  const details = (await api.ask('GET', `${workloads}/a`)).json() as { authz_config: unknown }
  expect(details.authz_config).toEqual(authz_config)
  const { authz_config: _, ...others } = details
  const edit = async (members: object) => {
    expect((await api.ask('POST', `${workloads}/a/edit`, { ...others, ...members })).status).toBe(200)
    await api.untilStatus('a', 'running')
    return statuses()
  }
  expect(await edit({})).toEqual([200, 403])
  const path = join(api.user.home, 'policies.json')
  await writeFile(path, JSON.stringify(cedar('permit(principal, action, resource == Tool::"b");')))
  expect(await edit({ authz_config: path })).toEqual([403, 200])
  expect(((await api.ask('GET', `${workloads}/a`)).json() as typeof details).authz_config).toBe(path)
  expect(await edit({ authz_config: '' })).toEqual([200, 200])
})
