import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { leaveOut } from '../support/left-out.ts'
import { clientV1, clientV2, textOf } from './clients.ts'
import { type Home, openHome } from './home.ts'
import { flagsOf, needsPlace } from './places-to-run.ts'
import { shareToolCaches } from './tool-caches.ts'

const repository = new URL('../..', import.meta.url).pathname
const there = (program: string, ...args: string[]) => spawnSync(program, args).status === 0

let home: Home
beforeAll(async () => {
  home = await openHome()
  await shareToolCaches(home)
})
afterAll(() => home.close(), 120_000)

describe.each(['docker', 'process'] as const)('on %s', { timeout: 600_000 }, place => {
  test('uvx://mcp-server-time tells the time', async context => {
    needsPlace(context, place, 'uvx')
    if (place === 'process' && !there('python3', '--version')) leaveOut(context, 'there is no python3')
    const name = `e2e-time-${place}`
    const run = await home.keelson(['run', 'uvx://mcp-server-time', '--name', name, ...flagsOf(place, 'uvx')])
    if (run.code !== 0 && /ETIMEDOUT|ENOTFOUND|EAI_AGAIN|timed out|connection/i.test(run.stderr)) {
      leaveOut(context, `PyPI does not answer: ${run.stderr}`)
    }
    expect(run).toMatchObject({ code: 0 })
    for (const client of [await clientV1(run.stdout), await clientV2(run.stdout)]) {
      expect((await client.listTools()).tools.map(tool => tool.name)).toContain('convert_time')
      const converted = await client.callTool({
        name: 'convert_time',
        arguments: { source_timezone: 'UTC', target_timezone: 'Asia/Tokyo', time: '12:00' },
      })
      expect(textOf(converted)).toContain('21:00')
    }
    expect(await home.ok(['list'])).toMatch(new RegExp(`${name} +uvx://mcp-server-time@[\\d.]+ +running`))
    await home.ok(['rm', name])
  })

  test('go://./path is built from the code there and responds', async context => {
    needsPlace(context, place, 'go')
    if (place === 'process' && !there('go', 'version')) leaveOut(context, 'there is no go')
    const name = `e2e-go-${place}`
    const url = await home.ok(['run', 'go://./fixtures/go-server', '--name', name, ...flagsOf(place, 'go')], {
      cwd: repository,
    })
    for (const client of [await clientV1(url), await clientV2(url)]) {
      expect((await client.listTools()).tools.map(tool => tool.name)).toContain('add')
      expect(textOf(await client.callTool({ name: 'add', arguments: { a: 1.5, b: 2 } }))).toBe('3.5')
    }
    await home.ok(['rm', name])
  })
})
