import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { clientV1, clientV2, textOf } from '../../../e2e/clients.ts'
import { type Home, openHome } from '../../../e2e/home.ts'
import { startZoo, type Zoo } from '../zoo.ts'

let home: Home
let zoo: Zoo
let url: string

beforeAll(async () => {
  home = await openHome()
  zoo = await startZoo()
  for (const name of ['everything', 'asking', 'modern'])
    await home.ok(['run', zoo.urls[name] ?? '', '--name', name])
  url = (await home.ok(['endpoint', 'create', 'all', '--group', 'default', '--tool-mode', 'search'])).trim()
})
afterAll(async () => {
  await home?.closeRemote()
  await zoo?.close()
})

const find = (query: string) => ({ name: 'find_tools', arguments: { query } })
const call = (name: string, args?: object) => ({
  name: 'call_tool',
  arguments: { name, ...(args ? { arguments: args } : {}) },
})

describe.each([
  ['2025-11-25', clientV1],
  ['2026-07-28', clientV2],
])('A client of %s', (_, connect) => {
  test('gets three tools, which say how many tools each server has', async () => {
    const client = await connect(url)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['find_tools', 'describe_tool', 'call_tool'])
    expect(tools[0]?.description).toMatch(/asking \(5\), everything \(\d+\), modern \(1\)/)
  })

  test('finds, describes and calls a tool', async () => {
    const client = await connect(url)
    const found = textOf(await client.callTool(find('add two numbers')))
    expect(found.split('\n')[1]).toMatch(/^everything_get-sum\(a: number, b: number\)/)
    const described = textOf(
      await client.callTool({ name: 'describe_tool', arguments: { name: 'everything_get-sum' } }),
    )
    expect(JSON.parse(described)).toMatchObject({
      name: 'everything_get-sum',
      inputSchema: { required: ['a', 'b'] },
    })
    const result = await client.callTool(call('everything_get-sum', { a: 2, b: 40 }))
    expect(textOf(result)).toContain('42')
    expect(textOf(await client.callTool(call('modern_now')))).toContain('modern times')
  })

  test('is told near names of a tool that nobody has', async () => {
    const client = await connect(url)
    const wrong = await client.callTool(call('everything_get_sum', { a: 1, b: 2 }))
    expect(wrong.isError).toBe(true)
    expect(textOf(wrong)).toContain('Did you mean everything_get-sum')
    const unknown = await client.callTool({ name: 'describe_tool', arguments: { name: 'everything_ecko' } })
    expect(textOf(unknown)).toContain('Did you mean everything_echo')
  })

  test.each([
    ['find_tools', {}, '"query" needs keywords'],
    ['describe_tool', {}, '"name" needs the name of a tool'],
    ['call_tool', { name: 'everything_echo', arguments: 'text' }, 'call_tool needs "name"'],
    ['call_tool', {}, 'call_tool needs "name"'],
  ])('is told what %s lacks with %j', async (name, args, problem) => {
    const client = await connect(url)
    const result = await client.callTool({ name, arguments: args })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain(problem)
  })
})

test('progress of a call through call_tool reaches the client', async () => {
  const client = await clientV1(url)
  const seen: number[] = []
  await client.callTool(
    call('everything_trigger-long-running-operation', { duration: 1, steps: 3 }),
    undefined,
    { onprogress: ({ progress }) => seen.push(progress) },
  )
  expect(seen).toEqual([1, 2, 3])
})

test('tools that appear are found, and those that go are not', async () => {
  const client = await clientV1(url)
  expect(textOf(await client.callTool(find('newcomer')))).toContain('No tool matches')
  await home.ok(['run', zoo.urls.modern ?? '', '--name', 'newcomer'])
  onTestFinished(async () => void (await home.keelson(['rm', 'newcomer'])))
  await expect.poll(async () => textOf(await client.callTool(find('newcomer')))).toContain('newcomer_now()')
  await home.ok(['rm', 'newcomer'])
  await expect.poll(async () => textOf(await client.callTool(find('newcomer')))).toContain('No tool matches')
})

describe('With policies and a filter', () => {
  let guarded: string
  let log: string

  beforeAll(async () => {
    const authz = join(home.path, 'authz.json')
    log = join(home.path, 'audit.log')
    const policy = 'permit(principal, action == Action::"call_tool", resource == Tool::"everything_echo");'
    const other = 'permit(principal, action == Action::"call_tool", resource == Tool::"everything_get-env");'
    await writeFile(
      authz,
      JSON.stringify({ version: '1.0', type: 'cedarv1', cedar: { policies: [policy, other] } }),
    )
    const audit = join(home.path, 'audit.json')
    await writeFile(audit, JSON.stringify({ logFile: log }))
    await home.ok(['endpoint', 'create', 'guarded', '--group', 'default', '--tool-mode', 'search'])
    guarded = (
      await home.ok([
        ...['edit', 'guarded', '--authz-config', authz, '--audit-config', audit],
        ...['--tools-deny', 'everything_get-env'],
      ])
    ).trim()
    guarded = JSON.parse(await home.ok(['list', '--format', 'json'])).find(
      ({ name }: { name: string }) => name === 'guarded',
    ).url
  })

  test.each([
    ['2025-11-25', clientV1],
    ['2026-07-28', clientV2],
  ])('a hidden tool can neither be found, described nor called by a client of %s', async (_, connect) => {
    const client = await connect(guarded)
    const { tools } = await client.listTools()
    expect(tools[0]?.description).toContain('everything (1).')
    expect(tools[0]?.description).not.toContain('asking')
    for (const query of ['everything', 'environment variables', 'add two numbers', 'asking']) {
      const found = textOf(await client.callTool(find(query)))
      expect(found).not.toMatch(/get-env|get-sum|asking_/)
    }
    expect(textOf(await client.callTool(find('echo')))).toContain('everything_echo(message: string)')
    for (const name of ['everything_get-env', 'everything_get-sum', 'asking_add']) {
      const described = await client.callTool({ name: 'describe_tool', arguments: { name } })
      expect(textOf(described)).toContain('There is no tool')
      const called = await client.callTool(call(name)).then(textOf, String)
      expect(called).toMatch(/There is no tool|Unauthorized|Unknown tool/)
      const direct = await client.callTool({ name, arguments: {} }).then(textOf, String)
      expect(direct).toMatch(/There is no tool|Unauthorized|Unknown tool/)
    }
    expect(textOf(await client.callTool(call('everything_echo', { message: 'hi' })))).toContain('hi')
  })

  test('the audit names the tool that was called, and the list that a search has made', async () => {
    const client = await clientV1(guarded)
    await client.callTool(call('everything_echo', { message: 'audited' }))
    await client.callTool(find('echo'))
    const events = async () =>
      (await readFile(log, 'utf8'))
        .trim()
        .split('\n')
        .map(line => JSON.parse(line))
    await expect
      .poll(async () => (await events()).filter(({ target }) => target.name === 'find_tools'))
      .not.toEqual([])
    const all = await events()
    expect(all.filter(({ target }) => target.name === 'call_tool')).toEqual([])
    expect(all.filter(({ target }) => target.name === 'everything_echo')).not.toEqual([])
    const search = all.findLast(({ target }) => target.name === 'find_tools')
    const nested = all.filter(({ metadata }) => metadata.extra.nested_in === search.audit_id)
    expect(nested.map(({ type }) => type)).toEqual(['mcp_tools_list'])
  })
})
