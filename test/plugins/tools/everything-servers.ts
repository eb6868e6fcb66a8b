import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import type { Attachment } from '../../../src/contracts/runtime.ts'
import { type RunningServer, startEverything, startFixture } from '../../support/mcp-fixtures/start-server.ts'

const everything = new URL(
  '../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
  import.meta.url,
).pathname

/** One real server for each transport over HTTP, while the tests of a file run. */
export function everythingServers(): Record<string, RunningServer> {
  const servers: Record<string, RunningServer> = {}
  beforeAll(async () => {
    const [http, sse, modern] = await Promise.all([
      startEverything('streamableHttp'),
      startEverything('sse'),
      startFixture('http-server-modern.ts'),
    ])
    Object.assign(servers, { http, sse, modern })
  })
  afterAll(() => Promise.all(Object.values(servers).map(server => server.kill())))
  return servers
}

/** The same server over its standard streams, while a test runs. */
export function attachEverything(): Attachment {
  const child = spawn(process.execPath, [everything, 'stdio'], { stdio: 'pipe' })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exit = once(child, 'exit').then(() => ({}))
  return { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, exit, detach: () => {} }
}

/** An official client of the era with sessions. */
export async function connect(url: string, isSse: boolean): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const transport = isSse
    ? new SSEClientTransport(new URL(url))
    : new StreamableHTTPClientTransport(new URL(url))
  await client.connect(transport as Transport)
  onTestFinished(() => client.close())
  return client
}
