import { existsSync } from 'node:fs'
import { Client as ClientV2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { needs } from '../support/left-out.ts'
import { main } from '../support/main.ts'
import { type RunningServer, startFixture } from '../support/mcp-fixtures/start-server.ts'
import { textOf, untilSent } from './clients.ts'
import { type Home, openHome, until } from './home.ts'

// The official clients over `proxy stdio`, with the built program, a supervisor and real servers behind them.
const TEXT = 'größer → 🙂'
const STATE = process.env.KEELSON_TEST_STATE ?? '/var/tmp/keelson-test'

let home: Home
const servers: RunningServer[] = []
beforeAll(async () => {
  home = await openHome()
  for (const [name, fixture] of [
    ['sessions', 'http-server-2025.ts'],
    ['modern', 'http-server-modern.ts'],
  ] as const) {
    const server = await startFixture(fixture)
    servers.push(server)
    await home.ok(['run', `${server.origin}/mcp`, '--name', name])
  }
})
afterAll(async () => {
  await home?.close()
  await Promise.all(servers.map(server => server.kill()))
}, 120_000)

const command = (workload: string) => ({
  command: process.execPath,
  args: ['--', main, 'proxy', 'stdio', workload],
  env: home.env,
})

async function openV1(workload: string) {
  const client = new ClientV1(
    { name: 'e2e', version: '1' },
    { capabilities: { sampling: {}, elicitation: {} } },
  )
  client.setRequestHandler(CreateMessageRequestSchema, async () => ({
    model: 'm',
    role: 'assistant' as const,
    content: { type: 'text' as const, text: TEXT },
  }))
  client.setRequestHandler(ElicitRequestSchema, async () => ({
    action: 'accept' as const,
    content: { username: 'ada', email: 'a@example.com' },
  }))
  await client.connect(new StdioV1(command(workload)))
  onTestFinished(() => client.close())
  return client
}

const call = async (client: ClientV1, name: string, args: Record<string, unknown> = {}) =>
  textOf(await client.callTool({ name, arguments: args }))

describe('SDK v1 for TypeScript', () => {
  test('it is asked for samples and input in the middle of calls, and hears of progress', async () => {
    const client = await openV1('sessions')
    expect(client.getServerVersion()?.name).toBe('sessions')
    expect(await call(client, 'test_sampling', { prompt: 'hi' })).toBe(`LLM response: ${TEXT}`)
    expect(await call(client, 'test_elicitation', { message: 'who?' })).toContain('ada')
    const seen: number[] = []
    await client.callTool({ name: 'test_tool_with_progress', arguments: {} }, undefined, {
      onprogress: ({ progress }) => seen.push(progress),
    })
    expect(seen).toEqual([0, 50, 100])
  })

  test('it goes on while the supervisor is killed and while it is replaced', async () => {
    const client = await openV1('sessions')
    await call(client, 'test_sampling', { prompt: 'hi' })
    const before = await home.supervisor()
    process.kill(before, 'SIGKILL')
    const sample = () => call(client, 'test_sampling', { prompt: 'hi' })
    expect(await untilSent(sample)).toBe(`LLM response: ${TEXT}`)
    const after = await until(async () => {
      const pid = await home.supervisor()
      expect(pid).toBeGreaterThan(0)
      return pid
    })
    expect(after).not.toBe(before)
    process.kill(after, 'SIGTERM')
    await home.ok(['list'])
    expect(await call(client, 'test_elicitation', { message: 'who?' })).toContain('ada')
  })

  test('a restart of the server costs it nothing: a new session is opened', async () => {
    const client = await openV1('sessions')
    await call(client, 'test_sampling', { prompt: 'hi' })
    const [server] = servers
    await server?.kill()
    servers[0] = await startFixture('http-server-2025.ts', { port: server?.port ?? 0 })
    expect(await call(client, 'test_tool_with_progress')).toBe('done')
  })
})

test.each(['sessions', 'modern'])(
  'SDK v2 for TypeScript agrees with the server "%s" on a revision',
  async workload => {
    const client = new ClientV2(
      { name: 'e2e', version: '1' },
      { versionNegotiation: { mode: 'auto', probe: { timeoutMs: 60_000 } } },
    )
    await client.connect(new StdioV2(command(workload)))
    onTestFinished(() => client.close())
    expect((await client.listTools()).tools.length).toBeGreaterThan(5)
    if (workload === 'modern')
      expect(textOf(await client.callTool({ name: 'echo', arguments: { text: TEXT } }))).toBe(
        `modern: ${TEXT}`,
      )
    expect(textOf(await client.callTool({ name: 'test_tool_with_progress', arguments: {} }))).toBe('done')
  },
)

describe.each([
  [
    1,
    'sessions',
    { server: 'sessions', sampled: `LLM response: ${TEXT}`, elicited: expect.stringContaining('ada') },
  ],
  [
    2,
    'modern',
    {
      version: '2026-07-28',
      echo: `modern: ${TEXT}`,
      region: 'größer',
      sampled: expect.stringContaining(TEXT),
      elicited: expect.stringContaining('ada'),
    },
  ],
] as const)('SDK v%d for Python', (version, workload, seen) => {
  test('it is asked in the middle of calls, and hears of progress', async context => {
    const python = `${STATE}/python-sdk-${version}/bin/python`
    needs(context, existsSync(python) ? undefined : `${python} is missing: run test/support/engines/setup.sh`)
    const script = new URL(`../../fixtures/python-clients/client-v${version}.py`, import.meta.url).pathname
    const { command: program, args, env } = command(workload)
    const { stdout } = await execa(python, [script, program, ...args], { env, extendEnv: false })
    expect(JSON.parse(stdout)).toMatchObject({
      ...seen,
      asked: ['sampling', 'elicitation'],
      progress: [0, 50, 100],
      done: 'done',
    })
  })
})

test('a workload that was stopped, and one that is unknown, end the command with one line', async () => {
  await home.ok(['stop', 'modern'])
  for (const [name, text] of [
    ['modern', 'Error: The workload "modern" is not running: it is stopped.'],
    ['nope', 'Error: There is no workload "nope".'],
  ] as const) {
    const { code, stdout, stderr } = await home.keelson(['proxy', 'stdio', name])
    expect({ code, stdout, line: stderr.split('\n')[0] }).toEqual({ code: 1, stdout: '', line: text })
  }
})
