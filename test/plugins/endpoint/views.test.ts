import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { clientV1, clientV2, textOf } from '../../e2e/clients.ts'
import { type Home, openHome } from '../../e2e/home.ts'
import { startZoo, type Zoo } from './zoo.ts'

let home: Home
let zoo: Zoo
let [own, maths, times]: string[] = []

beforeAll(async () => {
  home = await openHome()
  zoo = await startZoo()
  for (const name of ['everything', 'modern']) await home.ok(['run', zoo.urls[name] ?? '', '--name', name])
  const views = ['--view', 'maths=everything_get-sum,everything_ec*', '--view', 'times=modern_*']
  const printed = await home.ok(['endpoint', 'create', 'all', '--group', 'default', ...views])
  ;[own, maths, times] = printed.trim().split('\n')
})
afterAll(async () => {
  await home?.closeRemote()
  await zoo?.close()
})

const namesAt = async (connect: typeof clientV1 | typeof clientV2, url = '') =>
  (await (await connect(url)).listTools()).tools.map(({ name }) => name).sort()

describe.each([
  ['2025-11-25', clientV1],
  ['2026-07-28', clientV2],
])('A client of %s', (_, connect) => {
  test('sees the tools of its view alone, and calls no others', async () => {
    expect(await namesAt(connect, maths)).toEqual(['everything_echo', 'everything_get-sum'])
    expect(await namesAt(connect, times)).toEqual(['modern_now'])
    expect((await namesAt(connect, own)).length).toBeGreaterThan(3)
    const client = await connect(maths ?? '')
    const sum = await client.callTool({ name: 'everything_get-sum', arguments: { a: 2, b: 40 } })
    expect(textOf(sum)).toContain('42')
    await expect(client.callTool({ name: 'modern_now', arguments: {} })).rejects.toThrow(
      'Unknown tool: modern_now',
    )
  })

  test('is refused where there is no such view', async () => {
    await expect(connect(`${own}/nosuch`)).rejects.toThrow()
    const response = await fetch(`${own}/nosuch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    })
    expect(response.status).toBe(404)
    expect(await response.text()).toContain('The endpoint has no view \\"nosuch\\"')
  })

  test('finds and calls within its view', async () => {
    await home.ok(['endpoint', 'edit', 'all', '--tool-mode', 'search'])
    const client = await connect(maths ?? '')
    const { tools } = await client.listTools()
    expect(tools[0]?.description).toContain('everything (2)')
    const found = await client.callTool({ name: 'find_tools', arguments: { query: 'modern now sum' } })
    expect(textOf(found)).toContain('everything_get-sum')
    expect(textOf(found)).not.toContain('modern')
    const call = { name: 'call_tool', arguments: { name: 'modern_now', arguments: {} } }
    const refused = await client.callTool(call).then(textOf, String)
    expect(refused).toMatch(/Unknown tool|There is no tool/)
    await home.ok(['endpoint', 'edit', 'all', '--tool-mode', 'all'])
  })
})

test.each([
  ['Big=x', 'The view "Big" is not one'],
  ['empty=', 'The view "empty" is not one'],
  ['a/b=x', 'The view "a/b" is not one'],
])('--view %s is refused', async (view, problem) => {
  const { code, stderr } = await home.keelson(['endpoint', 'edit', 'all', '--view', view])
  expect(code).not.toBe(0)
  expect(stderr).toContain(problem)
})

test('views are exported, and there again after an import', async () => {
  const file = `${home.path}/exported.json`
  await home.ok(['endpoint', 'create', 'moved', '--group', 'default', '--view', 'times=modern_*'])
  onTestFinished(async () => void (await home.keelson(['rm', 'moved'])))
  await home.ok(['export', 'moved', file])
  await home.ok(['rm', 'moved'])
  await home.ok(['run', '--from-config', file])
  const listed = JSON.parse(await home.ok(['endpoint', 'list', '--format', 'json']))
  const moved = listed.find(({ name }: { name: string }) => name === 'moved')
  expect(await namesAt(clientV1, `${moved.url}/times`)).toEqual(['modern_now'])
})
