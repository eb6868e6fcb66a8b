import { readdirSync, renameSync, statSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { clientV1, textOf } from '../../e2e/clients.ts'
import { startApi } from '../../support/api-server.ts'
import { plantPackage, STRANGER } from '../../support/hostile/plant-package.ts'
import { testHome } from '../auth-out/guarded-server.ts'
import { post, rpc, testServer } from '../proxy/test-proxy.ts'
import { readEvents } from './audited-proxy.ts'

const slow = { timeout: 120_000 }

const server = () =>
  testServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { id } = JSON.parse(text || '{}')
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
  })

/** Calls one after the other, until told to stop, and notes the ids of those that were answered. */
function load(url: string, name: string) {
  const answered: string[] = []
  let isOver = false
  const done = (async () => {
    for (let n = 0; !isOver; n++) {
      const id = `${name}-${n}`
      const text = await post(url, rpc('tools/call', id, { name: 'a' })).then(
        response => response.text(),
        () => '',
      )
      if (text.includes(id) && text.includes('result')) answered.push(id)
    }
  })()
  return {
    answered,
    async stop() {
      isOver = true
      await done
    },
  }
}

const idsOf = (paths: readonly string[]) =>
  new Set(paths.flatMap(readEvents).map(({ metadata }) => metadata.extra.jsonrpc_id))

test(
  'no answered call is without its line when the supervisor is killed or the file is moved',
  slow,
  async () => {
    const home = await testHome({ secrets: false })
    const path = join(home.path, 'audit.jsonl')
    await writeFile(join(home.path, 'audit.json'), JSON.stringify({ logFile: path, hashChain: true }))
    const url = await home.ok(['run', await server(), '--name', 'far', '--audit-config', 'audit.json'])
    const loads = ['a', 'b', 'c', 'd'].map(name => load(url, name))
    const count = () => loads.reduce((sum, { answered }) => sum + answered.length, 0)
    const untilMore = async () => {
      const before = count()
      await expect.poll(count, { timeout: 60_000 }).toBeGreaterThan(before + 50)
    }

    await untilMore()
    process.kill(await home.supervisor(), 'SIGKILL')
    await home.ok(['list'])
    await untilMore()
    const moved = `${path}.20200101T000000000Z`
    renameSync(path, moved)
    process.kill(await home.supervisor(), 'SIGHUP')
    await untilMore()
    await Promise.all(loads.map(one => one.stop()))

    const recorded = idsOf([moved, path])
    expect(loads.flatMap(({ answered }) => answered.filter(id => !recorded.has(id)))).toEqual([])
    expect(readEvents(path).length).toBeGreaterThan(0)
    expect(statSync(path).mode & 0o777).toBe(0o600)

    const fine = await home.keelson(['audit', 'verify', path])
    expect([fine.code, fine.stdout]).toEqual([
      0,
      expect.stringMatching(/^\d+ lines, 1 to \d+, are as they were written/),
    ])
    await writeFile(
      moved,
      (await readFile(moved, 'utf8')).replace('"outcome":"success"', '"outcome":"denied"'),
    )
    const broken = await home.keelson(['audit', 'verify', path])
    expect([broken.code, broken.stdout]).toEqual([1, expect.stringContaining(`${moved}:`)])
    expect((await home.keelson(['audit', 'verify', 'none.jsonl'])).code).toBe(1)
  },
)

test(
  'a stdio server behind the bridge is recorded in a file of its own, and kept by an export',
  slow,
  async () => {
    const home = await testHome({ secrets: false })
    await plantPackage(home.path)
    const url = await home.ok([
      'run',
      STRANGER,
      ...['--runtime', 'process', '--name', 'near'],
      '--enable-audit',
      '--permission-profile',
      'none',
    ])
    const client = await clientV1(url)
    const { tools } = await client.listTools()
    const result = await client.callTool({ name: tools[0]?.name ?? '', arguments: { command: 'true' } })
    expect(textOf(result)).toEqual(expect.any(String))
    await client.close()

    const path = join(home.path, '.local/share/keelson/audit/near.jsonl')
    const own = readEvents(path).filter(({ subjects }) => subjects.client_name !== undefined)
    expect(own.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['mcp_initialize', 'mcp_notification', 'mcp_tools_list', 'mcp_tool_call']),
    )
    expect(own.find(({ type }) => type === 'mcp_tool_call')).toMatchObject({
      target: { name: tools[0]?.name, type: 'tool' },
      component: 'near',
    })
    await home.ok(['export', 'near', 'near.json'])
    expect(JSON.parse(await readFile(join(home.path, 'near.json'), 'utf8')).audit_config).toEqual({
      enabled: true,
    })
    await home.ok(['rm', 'near'])
    expect(readEvents(path).length).toBeGreaterThan(3)
  },
)

test('a stranger’s run config chooses no file, and a wrong configuration starts nothing', slow, async () => {
  const home = await testHome({ secrets: false })
  const target = await server()
  const config = {
    schema_version: 'v0.1.0',
    name: 'far',
    transport: 'streamable-http',
    port: 0,
    remote_url: target,
  }
  const path = join(home.path, 'stranger.jsonl')
  for (const members of [{ audit_config: { logFile: path } }, { audit_config_path: '/etc/hostname' }]) {
    await writeFile(join(home.path, 'far.json'), JSON.stringify({ ...config, ...members }))
    const shown = await home.keelson(['run', '--from-config', 'far.json'])
    expect([shown.code, shown.stderr]).toEqual([2, expect.stringContaining('for its audit')])
  }
  expect(readdirSync(home.path)).not.toContain('stranger.jsonl')

  await writeFile(join(home.path, 'mine.json'), JSON.stringify({ component: 'mine' }))
  const url = await home.ok(['run', '--from-config', 'far.json', '--audit-config', 'mine.json'])
  await (await post(url, rpc('ping', 1))).text()
  expect(readEvents(join(home.path, '.local/share/keelson/audit/far.jsonl')).at(-1)).toMatchObject({
    component: 'mine',
  })
  await home.ok(['rm', 'far'])

  await writeFile(join(home.path, 'audit.json'), '{"logFile":"/nowhere/at/all.jsonl"}')
  const shown = await home.keelson(['run', target, '--name', 'wrong', '--audit-config', 'audit.json'])
  expect([shown.code, shown.stderr]).toEqual([1, expect.stringContaining('/nowhere/at does not exist')])
  expect(await home.ok(['list', '--all'])).not.toContain('wrong')
})

test('over HTTP the audit is set, shown and kept, and no file is named', slow, async () => {
  const api = await startApi()
  const workloads = '/api/v1beta/workloads'
  const body = { name: 'a', url: await server(), audit_config: { component: 'mine' } }
  const named = { ...body, audit_config: { logFile: join(api.user.home, 'x.jsonl') } }
  expect((await api.ask('POST', workloads, named)).status).toBe(400)
  expect((await api.ask('POST', workloads, body)).status).toBe(201)
  await api.untilStatus('a', 'running')
  const details: Record<string, unknown> = (await api.ask('GET', `${workloads}/a`)).json()
  expect(details.audit_config).toEqual({ component: 'mine' })

  const file = join(api.user.home, '.local/state/keelson/runconfigs/a.json')
  const stored = JSON.parse(await readFile(file, 'utf8'))
  const logFile = join(api.user.home, 'mine.jsonl')
  await writeFile(file, JSON.stringify({ ...stored, audit_config: { logFile } }))
  const { audit_config: _, ...others } = details
  for (const edit of [others, { ...others, audit_config: { logFile, component: 'b' } }]) {
    expect((await api.ask('POST', `${workloads}/a/edit`, edit)).status).toBe(200)
    await api.untilStatus('a', 'running')
    expect(JSON.parse(await readFile(file, 'utf8')).audit_config).toMatchObject({ logFile })
  }
  const moved = { ...others, audit_config: { logFile: `${logFile}.other` } }
  expect((await api.ask('POST', `${workloads}/a/edit`, moved)).status).toBe(400)
})
