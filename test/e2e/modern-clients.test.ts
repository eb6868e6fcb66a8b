import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { modernParams } from '../plugins/proxy/bridge/modern-client.ts'
import { call, rpc } from '../plugins/proxy/bridge/raw-client.ts'
import { startEverything } from '../support/mcp-fixtures/start-server.ts'
import { textOf } from './clients.ts'
import { type Home, openHome } from './home.ts'
import { needsPlace } from './places-to-run.ts'

// Clients of 2026-07-28 at older servers, behind the program.
let home: Home
beforeAll(async () => {
  home = await openHome()
})
afterAll(() => home?.close(), 120_000)

const root = new URL('../..', import.meta.url).pathname

async function runStdio(name: string): Promise<string> {
  const out = await home.ok([
    ...['run', '--runtime', 'docker', '--name', name, '--transport', 'stdio'],
    ...[
      '-v',
      `${root}:/srv:ro`,
      'keelson-test/node:24',
      '--',
      'node',
      '/srv/fixtures/stdio-servers/conformance.ts',
    ],
  ])
  return urlIn(out)
}

const urlIn = (out: string): string => /http:\/\/\S+/.exec(out)?.[0] ?? ''

async function connect(url: string): Promise<Client> {
  const client = new Client(
    { name: 'e2e', version: '1' },
    { capabilities: { sampling: {}, elicitation: {} }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  )
  client.setRequestHandler('sampling/createMessage', () => ({
    model: 'm',
    role: 'assistant' as const,
    content: { type: 'text' as const, text: 'Paris' },
  }))
  client.setRequestHandler('elicitation/create', () => ({
    action: 'accept' as const,
    content: { username: 'ann', email: 'ann@a.example', name: 'Ann', check: true },
  }))
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  onTestFinished(() => client.close())
  return client
}

test('use a stdio server', { timeout: 120_000 }, async context => {
  needsPlace(context, 'docker')
  const client = await connect(await runStdio('older'))
  const sampled = await client.callTool({
    name: 'test_sampling',
    arguments: { prompt: 'capital of France?' },
  })
  expect(textOf(sampled)).toBe('LLM response: Paris')
  const elicited = await client.callTool({ name: 'test_elicitation', arguments: { message: 'Who?' } })
  expect(textOf(elicited)).toContain('ann@a.example')
})

test.each(['streamableHttp', 'sse'] as const)(
  'use a remote server of %s',
  { timeout: 120_000 },
  async mode => {
    const server = await startEverything(mode)
    onTestFinished(() => server.kill())
    const [path, transport] = mode === 'sse' ? ['/sse', 'sse'] : ['/mcp', 'streamable-http']
    const url = urlIn(
      await home.ok([
        'run',
        `${server.origin}${path}`,
        '--name',
        `remote-${transport}`,
        '--transport',
        transport,
      ]),
    )
    const client = await connect(url)
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo')
    const sampled = await client.callTool({ name: 'trigger-sampling-request', arguments: { prompt: 'hi' } })
    expect(textOf(sampled)).toContain('Paris')
    const elicited = await client.callTool({ name: 'trigger-elicitation-request', arguments: {} })
    expect(textOf(elicited)).toContain('Ann')
  },
)

test('a call is refused, not repeated, when the supervisor was killed between its rounds', {
  timeout: 120_000,
}, async context => {
  needsPlace(context, 'docker')
  const url = await runStdio('killed')
  const facts = { capabilities: { elicitation: {} } }
  const asked = { name: 'test_elicitation', arguments: { message: 'Who?' } }
  const headers = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': asked.name,
  }
  const ask = (params: Record<string, unknown>) =>
    call(url, rpc(1, 'tools/call', modernParams(params, facts)), headers)
  const { inputRequests, requestState } = (await ask(asked)).json.result
  const supervisor = await home.supervisor()
  process.kill(supervisor, 'SIGKILL')
  await expect.poll(() => home.supervisor(), { timeout: 60_000 }).not.toBe(supervisor)
  const inputResponses = { [Object.keys(inputRequests)[0] ?? '']: { action: 'accept', content: {} } }
  const retry = () =>
    ask({ ...asked, inputResponses, requestState }).then(
      ({ json }) => json,
      () => undefined,
    )
  await expect.poll(retry, { timeout: 60_000 }).toMatchObject({ error: { code: -32602 } })
  expect((await retry()).error.message).toContain('the proxy was restarted')
})
