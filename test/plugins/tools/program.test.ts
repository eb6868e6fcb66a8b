import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { tryLock } from '../../../src/lib/file-lock.ts'
import { testHome } from '../auth-out/guarded-server.ts'
import { serveHome } from '../auth-out/http-world.ts'
import { post, rpc, testServer } from '../proxy/test-proxy.ts'

const TOOLS = [
  {
    name: 'get_note',
    annotations: { readOnlyHint: true },
    inputSchema: { properties: { root: {}, id: {} } },
  },
  { name: 'get_list', annotations: { readOnlyHint: true } },
  { name: 'delete_note', annotations: { readOnlyHint: false } },
]

const server = () =>
  testServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { id, method } = JSON.parse(text || '{}')
    if (id === undefined) return void response.writeHead(request.method === 'GET' ? 405 : 202).end()
    const results: Record<string, unknown> = {
      initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'n' } },
      'tools/list': { tools: TOOLS },
    }
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} }))
  })

async function namesAt(url: string): Promise<string[]> {
  const { result } = JSON.parse(await (await post(url, rpc('tools/list', 1))).text())
  return result.tools.map(({ name }: { name: string }) => name)
}

test('tools are checked at the start, shown, and changed while the workload runs', {
  timeout: 120_000,
}, async () => {
  const home = await testHome({ secrets: false })
  const target = await server()
  const run = (...flags: string[]) => [
    'run',
    target,
    '--name',
    'far',
    '--transport',
    'streamable-http',
    ...flags,
  ]

  const wrong = await home.keelson(run('--tools', 'get_nte', '--tools-deny', 'x_*'))
  expect(wrong.code).toBe(2)
  expect(wrong.stderr).toContain('It has no tool "get_nte" (--tools). Did you mean "get_note"?')
  expect(JSON.parse((await home.keelson(['list', '--all', '--format', 'json'])).stdout)).toEqual([])

  const url = await home.ok(run('--tools-deny', 'delete_note'))
  const supervisor = await home.supervisor()
  expect(await namesAt(url)).toEqual(['get_note', 'get_list'])
  const shown = await home.ok(['tools', 'far'])
  expect(shown).toMatch(/^get_note +get_note +shown +yes$/m)
  expect(shown).toMatch(/^- +delete_note +hidden: in --tools-deny +no$/m)

  const preview = await home.ok(['tools', 'far', '--tools', 'get_list', '--preview'])
  expect(preview).toMatch(/^get_note +get_note +hidden: not in --tools$/m)
  expect(await namesAt(url)).toEqual(['get_note', 'get_list'])

  const typo = await home.keelson(['tools', 'far', '--tools-deny', 'get_lst'])
  expect([typo.code, typo.stderr]).toEqual([2, expect.stringContaining('Did you mean "get_list"?')])

  const override = { toolsOverride: { get_note: { name: 'note', fixed_arguments: { root: '/n' } } } }
  await writeFile(join(home.path, 'tools.json'), JSON.stringify(override))
  await home.ok(['tools', 'far', '--tools', 'note', '--tools-override', 'tools.json'])
  expect(await namesAt(url)).toEqual(['note'])
  const { settings } = JSON.parse(await home.ok(['tools', 'far', '--format', 'json']))
  expect(settings).toMatchObject({ tools_filter: ['note'], tools_deny: ['delete_note'] })

  const result = JSON.parse(
    await home.ok(['tools', 'far', '--reset', '--tools-read-only', '--format', 'json']),
  )
  expect(result).toMatchObject({ settings: { tools_read_only: true }, isOpen: true, warnings: [] })
  expect(await namesAt(url)).toEqual(['get_note', 'get_list'])
  expect(await home.supervisor()).toBe(supervisor)
})

test('an edit over HTTP of nothing but tools counts at once, in sessions that are open', {
  timeout: 120_000,
}, async () => {
  const home = await testHome({ secrets: false })
  const target = await server()
  const url = await home.ok(['run', target, '--name', 'far', '--transport', 'streamable-http'])
  const api = await serveHome(home)
  const path = '/api/v1beta/workloads/far'
  const startedAt = async () =>
    JSON.parse(await home.ok(['list', '--format', 'json']))[0].started_at as string
  const before = await startedAt()
  const edit = async (more: object) => {
    const details = (await api.ask('GET', path)).json() as object
    return api.ask('POST', `${path}/edit`, { ...details, ...more })
  }

  expect((await edit({ tools: ['note'], tools_override: { get_note: { name: 'note' } } })).status).toBe(200)
  expect(await namesAt(url)).toEqual(['note'])
  expect((await edit({ tools: [], tools_override: {}, tools_deny: ['get_*'] })).status).toBe(200)
  expect(await namesAt(url)).toEqual(['delete_note'])
  const typo = await edit({ tools_deny: ['delete_nte'] })
  expect([typo.status, typo.text]).toEqual([400, expect.stringContaining('Did you mean')])
  expect(await namesAt(url)).toEqual(['delete_note'])
  expect(await startedAt()).toBe(before)

  expect((await edit({ tools_deny: ['get_note'], trust_proxy_headers: true })).status).toBe(200)
  await api.untilStatus('far', 'running')
  expect(await startedAt()).not.toBe(before)
  expect(await namesAt(url)).toEqual(['get_list', 'delete_note'])

  await home.ok(['stop', 'far'])
  expect((await edit({ tools_deny: ['delete_note'] })).status).toBe(200)
  await api.untilStatus('far', 'running')
  expect(await namesAt(url)).toEqual(['get_note', 'get_list'])
})

test('a record that a killed upgrade has left does not refuse a change of tools, one of a running upgrade does', {
  timeout: 120_000,
}, async () => {
  const home = await testHome({ secrets: false })
  const url = await home.ok(['run', await server(), '--name', 'far', '--transport', 'streamable-http'])
  const state = join(home.path, '.local/state/keelson')
  const from = JSON.parse(await readFile(join(state, 'runconfigs/far.json'), 'utf8'))
  const record = { from, to: { ...from, container_name: 'far-2' }, wait_ms: 60_000 }
  await mkdir(join(state, 'upgrades'), { recursive: true })
  await writeFile(join(state, 'upgrades/far.json'), JSON.stringify(record))

  const running = await tryLock(join(state, 'upgrades/far.lock'))
  const refused = await home.keelson(['tools', 'far', '--tools', 'get_list'])
  expect(refused.stderr).toContain('An upgrade of "far" is under way.')
  await running?.release()

  await home.ok(['tools', 'far', '--tools', 'get_list'])
  expect(await namesAt(url)).toEqual(['get_list'])
  await expect(readFile(join(state, 'upgrades/far.json'))).rejects.toThrow('ENOENT')
})

test('a change of a workload in the foreground says that its process does not apply it', {
  timeout: 120_000,
}, async () => {
  const home = await testHome({ secrets: false })
  const transport = ['--transport', 'streamable-http']
  const child = home.start(['run', await server(), '--name', 'far', '--foreground', ...transport])
  onTestFinished(async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
  })
  const [url] = await once(createInterface({ input: child.stdout ?? expect.fail() }), 'line')

  const changed = await home.ok(['tools', 'far', '--tools', 'get_list'])

  expect(changed).toContain(`it runs in the foreground of process ${child.pid}.`)
  expect(changed).toContain(
    `It counts from the next start of "far". Process ${child.pid} goes on with the tools that it started with.`,
  )
  expect(await namesAt(String(url))).toContain('get_note')
})
