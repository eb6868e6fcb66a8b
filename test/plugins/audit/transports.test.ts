import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { expect, onTestFinished, test } from 'vitest'
import { plantPackage, STRANGER } from '../../support/hostile/plant-package.ts'
import { testHome } from '../auth-out/guarded-server.ts'
import { post, rpc, testServer } from '../proxy/test-proxy.ts'
import { type Event, readEvents } from './audited-proxy.ts'

const slow = { timeout: 120_000 }

test('`proxy` writes to its standard output where that is asked for', slow, async () => {
  const home = await testHome({ secrets: false })
  const target = await testServer((request, response) => {
    request.resume()
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end('{"jsonrpc":"2.0","id":1,"result":{}}')
  })
  await writeFile(join(home.path, 'audit.json'), '{"logFile":"/dev/stdout"}')
  const args = [
    'proxy',
    'notes',
    '--target-uri',
    target,
    '--audit-config',
    'audit.json',
    '--protocol',
    'stateless',
  ]
  const proxy = home.start(args, { cwd: home.path })
  onTestFinished(async () => {
    const exited = once(proxy, 'exit')
    proxy.kill()
    await exited
  })
  const lines: string[] = []
  const reader = createInterface({ input: proxy.stdout as NodeJS.ReadableStream }).on('line', line =>
    lines.push(line),
  )
  const [url] = await once(reader, 'line')
  // A request of MCP 2026-07-28, which has no sessions.
  const meta = { 'io.modelcontextprotocol/clientInfo': { name: 'modern', version: '3' } }
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'a' }
  await (await post(`${url}/mcp`, rpc('tools/call', 1, { name: 'a', _meta: meta }), headers)).text()
  await expect.poll(() => lines.length).toBe(2)
  expect(JSON.parse(lines[1] ?? '')).toMatchObject({
    ...{ type: 'mcp_tool_call', outcome: 'success', component: 'notes' },
    subjects: { client_name: 'modern', client_version: '3' },
  })
})

test('over HTTP+SSE messages are recorded, and the stream when it begins and ends', slow, async () => {
  const home = await testHome({ secrets: false })
  await plantPackage(home.path)
  const url = await home.ok([
    ...['run', STRANGER, '--runtime', 'process', '--name', 'near', '--enable-audit', '--proxy-mode', 'sse'],
    ...['--permission-profile', 'none'],
  ])
  const client = new Client({ name: 'old', version: '1' })
  await client.connect(new SSEClientTransport(new URL(url)))
  await client.listTools()
  await client.close()
  const path = join(home.path, '.local/share/keelson/audit/near.jsonl')
  const shown = ({ type, phase, outcome }: Event) => [type, ...(phase ? [phase] : []), outcome].join(' ')
  await expect
    .poll(() => readEvents(path).map(shown))
    .toEqual(
      expect.arrayContaining([
        'sse_connection open success',
        'mcp_tools_list success',
        'sse_connection end success',
      ]),
    )
  expect(readEvents(path).every(({ metadata }) => metadata.extra.transport === 'sse')).toBe(true)
})
