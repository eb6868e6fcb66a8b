import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { expect, onTestFinished, test } from 'vitest'
import type { Attachment } from '../../../src/contracts/runtime.ts'
import { post, rpc, testProxy } from './test-proxy.ts'

const everything = new URL(
  '../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
  import.meta.url,
).pathname

/** The reference server as a process of this test. */
function attach(): Attachment {
  const child = spawn(process.execPath, [everything, 'stdio'], { stdio: 'pipe' })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exit = once(child, 'exit').then(([code]) => (typeof code === 'number' ? { code } : {}))
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exit,
    detach: () => child.stdin.end(),
  }
}

test.each(['streamable-http', 'sse'] as const)('a stdio server is used over %s', async proxy_mode => {
  const proxy = await testProxy({ config: { transport: 'stdio', proxy_mode } })
  await proxy.connect({ kind: 'stdio', attachment: attach() })
  await proxy.ready({ timeoutMs: 60_000, ping: true })
  const url = new URL(proxy.url)
  const transport =
    proxy_mode === 'sse' ? new SSEClientTransport(url) : new StreamableHTTPClientTransport(url)
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport as Transport)
  onTestFinished(() => client.close())
  const result = await client.callTool({ name: 'echo', arguments: { message: 'hi' } })
  expect(JSON.stringify(result.content)).toContain('hi')
  expect((await fetch(`${proxy.origin}/health`)).status).toBe(200)
})

test('the guard checks requests for a stdio server too', async () => {
  const proxy = await testProxy({ config: { transport: 'stdio' } })
  await proxy.connect({ kind: 'stdio', attachment: attach() })
  const evil = await post(`${proxy.origin}/mcp`, rpc('ping', 1), { origin: 'https://evil.example' })
  expect(evil.status).toBe(403)
  expect((await post(`${proxy.origin}/mcp`, `[${rpc('ping', 1)}]`)).status).toBe(400)
})

test('without its server a stdio workload is unhealthy and says so', async () => {
  const proxy = await testProxy({ config: { transport: 'stdio' }, wait: { waitMs: 50, maxWaiting: 4 } })
  const health = await fetch(`${proxy.origin}/health`)
  expect(health.status).toBe(503)
  expect(await health.json()).toMatchObject({ status: 'unhealthy', transport: 'stdio' })
  expect((await post(`${proxy.origin}/mcp`, rpc('ping', 1))).status).toBe(503)
})

test('a backend of the wrong kind is refused', async () => {
  const proxy = await testProxy({ config: { transport: 'stdio' } })
  const target = new URL('http://127.0.0.1:1')
  await expect(proxy.connect({ kind: 'http', target, remote: false })).rejects.toThrow('kind http')
})
