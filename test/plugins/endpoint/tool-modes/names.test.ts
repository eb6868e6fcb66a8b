import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientV1, clientV2, textOf } from '../../../e2e/clients.ts'
import { type Home, openHome } from '../../../e2e/home.ts'
import { startZoo, type Zoo } from '../zoo.ts'

let home: Home
let zoo: Zoo
let url: string

beforeAll(async () => {
  home = await openHome()
  zoo = await startZoo()
  for (const name of ['everything', 'modern']) await home.ok(['run', zoo.urls[name] ?? '', '--name', name])
  await home.ok(['endpoint', 'create', 'all', '--group', 'default'])
  await home.ok(['endpoint', 'edit', 'all', '--tool-mode', 'names'])
  const [{ url: at, tool_mode: mode }] = JSON.parse(await home.ok(['endpoint', 'list', '--format', 'json']))
  expect(mode).toBe('names')
  url = at
})
afterAll(async () => {
  await home?.closeRemote()
  await zoo?.close()
})

describe.each([
  ['2025-11-25', clientV1],
  ['2026-07-28', clientV2],
])('A client of %s', (_, connect) => {
  test('gets a line and an open schema of each tool', async () => {
    const client = await connect(url)
    const { tools } = await client.listTools()
    const direct = await (await clientV1(zoo.urls.everything ?? '')).listTools()
    expect(tools.map(({ name }) => name).sort()).toEqual(
      ['describe_tool', 'modern_now', ...direct.tools.map(({ name }) => `everything_${name}`)].sort(),
    )
    const sum = tools.find(({ name }) => name === 'everything_get-sum')
    expect(sum).toMatchObject({ inputSchema: { type: 'object' }, title: 'Get Sum Tool' })
    expect(sum?.inputSchema.properties).toBeUndefined()
    expect(sum?.description).toMatch(/^Returns the sum of two numbers/)
  })

  test('describes a tool and calls it', async () => {
    const client = await connect(url)
    const described = await client.callTool({
      name: 'describe_tool',
      arguments: { name: 'everything_get-sum' },
    })
    expect(JSON.parse(textOf(described)).inputSchema.required).toEqual(['a', 'b'])
    const result = await client.callTool({ name: 'everything_get-sum', arguments: { a: 2, b: 40 } })
    expect(textOf(result)).toContain('42')
    const wrong = await client.callTool({ name: 'everything_get_sum', arguments: {} })
    expect(textOf(wrong)).toContain('Did you mean everything_get-sum')
  })
})
