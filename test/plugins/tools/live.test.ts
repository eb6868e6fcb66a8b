import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, test } from 'vitest'
import { toolsMiddleware } from '../../../plugins/tools/middleware.ts'
import type { ToolControl } from '../../../plugins/tools/tool-controls.ts'
import { testProxy, until } from '../proxy/test-proxy.ts'
import { attachEverything, connect, everythingServers } from './everything-servers.ts'

const servers = everythingServers()

const KINDS = {
  'stdio over streamable HTTP': { transport: 'stdio' },
  'stdio over SSE': { transport: 'stdio', proxy_mode: 'sse' },
  'streamable HTTP': { transport: 'streamable-http' },
  SSE: { transport: 'sse' },
} as const

async function open(config: (typeof KINDS)[keyof typeof KINDS]) {
  const controls = new Map<string, ToolControl>()
  const target = (config.transport === 'sse' ? servers.sse : servers.http)?.origin ?? ''
  const proxy = await testProxy({
    middlewares: [toolsMiddleware(controls)],
    config,
    ...(config.transport === 'stdio' ? {} : { target }),
  })
  if (config.transport === 'stdio') await proxy.connect({ kind: 'stdio', attachment: attachEverything() })
  await proxy.ready({ timeoutMs: 60_000, ping: true })
  return { proxy, control: controls.get('test') as ToolControl }
}

describe.each(Object.entries(KINDS))('%s', (_name, kind) => {
  test('a change counts at once, in sessions and on streams opened before', async () => {
    const { proxy, control } = await open(kind)
    const client = await connect(proxy.url, proxy.url.includes('/sse'))
    let told = 0
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void told++)
    const names = async () => (await client.listTools()).tools.map(({ name }) => name)
    const all = await names()
    expect(all).toEqual(expect.arrayContaining(['echo', 'get-sum']))
    expect((await control.listTools({}))?.map(({ name }) => name).toSorted()).toEqual(all.toSorted())

    control.select({ tools_filter: ['say'], tools_override: { echo: { name: 'say' } } })
    expect(await names()).toEqual(['say'])
    await expect(client.callTool({ name: 'get-sum', arguments: { a: 1, b: 2 } })).rejects.toThrow(
      'Unknown tool',
    )
    const said = await client.callTool({ name: 'say', arguments: { message: 'still here' } })
    expect(JSON.stringify(said)).toContain('still here')
    // The list of the proxy itself is not filtered.
    expect((await control.listTools({}))?.length).toBe(all.length)

    // The client of streamable HTTP opens its stream on its own time.
    await until(() => {
      if (told === 0) control.select({ tools_filter: ['echo'] })
      return told > 0
    })
    control.select({})
    expect((await names()).toSorted()).toEqual(all.toSorted())
  })
})
