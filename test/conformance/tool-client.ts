import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { main } from '../support/main.ts'

// The client under test of the official suite, without logins: `keelson mcp`, or an SDK client behind
// `keelson proxy stdio`, in the home folder of the test. It lists all tools and calls each of them.

const run = promisify(execFile)
const [, , way, workload = ''] = process.argv
const url = process.argv.at(-1) ?? ''
const version = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION ?? '2025-11-25'
const isStateless = version === '2026-07-28'
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as { toolCalls?: Call[] }

interface Call {
  readonly name: string
  readonly arguments: Record<string, unknown>
}
interface Tool {
  readonly name: string
  readonly inputSchema: object
}

const keelson = async (...args: string[]): Promise<string> =>
  (await run(process.execPath, ['--', main, ...args])).stdout

/** What to call: what the suite wants, else each tool with arguments that any of them takes. */
const callsOf = (tools: readonly Tool[]): readonly Call[] =>
  context.toolCalls ??
  tools.map(({ name }) => ({ name, arguments: { a: 5, b: 3, schema: tools[0]?.inputSchema } }))

const ways: Readonly<Record<string, () => Promise<void>>> = {
  async mcp() {
    const { tools } = JSON.parse(await keelson('mcp', 'list', 'tools', '--server', url, '--format', 'json'))
    for (const { name, arguments: args } of callsOf(tools)) {
      await keelson('mcp', 'call', name, '--server', url, '--args', JSON.stringify(args)).catch(() => '')
    }
  },
  async stdio() {
    await keelson('run', url, '--name', workload, ...(isStateless ? ['--protocol', 'stateless'] : []))
    const client = new Client(
      { name: 'suite', version: '1' },
      {
        capabilities: { elicitation: { form: { applyDefaults: true } }, sampling: {}, roots: {} },
        versionNegotiation: { mode: isStateless ? { pin: version } : 'legacy' },
      },
    )
    client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: {} }))
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: ['--', main, 'proxy', 'stdio', workload],
        env: process.env as Record<string, string>,
      }),
    )
    try {
      const { tools } = await client.listTools()
      for (const call of callsOf(tools)) await client.callTool(call).catch(() => undefined)
    } finally {
      await client.close()
      await keelson('rm', workload)
    }
  },
}

if (!way) throw new Error('to be started by the suite')
await ways[way]?.()
