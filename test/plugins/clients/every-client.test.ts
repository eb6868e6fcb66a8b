import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { parse as parseToml } from 'smol-toml'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { type Home, openHome, until } from '../../e2e/home.ts'

// The real program and a real server: what each client's file says is what the official client connects to.

type Entry = Record<string, unknown>
const read = (path: string) => readFile(join(home.path, path), 'utf8')
const inJson = (path: string, key: string) => async (name: string) =>
  (JSON.parse(await read(path))[key] as Record<string, Entry> | undefined)?.[name]

/** What each client reads, as its makers document it. */
const READERS: Record<string, (name: string) => Promise<Entry | undefined>> = {
  'roo-code': inJson(
    '.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json',
    'mcpServers',
  ),
  cline: inJson(
    '.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
    'mcpServers',
  ),
  vscode: inJson('.config/Code/User/mcp.json', 'servers'),
  'vscode-insider': inJson('.config/Code - Insiders/User/mcp.json', 'servers'),
  'vscode-server': inJson('.vscode-server/data/User/mcp.json', 'servers'),
  cursor: inJson('.cursor/mcp.json', 'mcpServers'),
  'claude-code': inJson('.claude.json', 'mcpServers'),
  windsurf: inJson('.codeium/windsurf/mcp_config.json', 'mcpServers'),
  'windsurf-jetbrains': inJson('.codeium/mcp_config.json', 'mcpServers'),
  'amp-cli': inJson('.config/amp/settings.json', 'amp.mcpServers'),
  'lm-studio': inJson('.lmstudio/mcp.json', 'mcpServers'),
  goose: async name => parseYaml(await read('.config/goose/config.yaml')).extensions?.[name],
  trae: inJson('.config/Trae/User/mcp.json', 'mcpServers'),
  continue: async name =>
    (parseYaml(await read('.continue/config.yaml')).mcpServers as Entry[]).find(entry => entry.name === name),
  opencode: inJson('.config/opencode/opencode.json', 'mcp'),
  kiro: inJson('.kiro/settings/mcp.json', 'mcpServers'),
  antigravity: inJson('.gemini/antigravity/mcp_config.json', 'mcpServers'),
  zed: inJson('.config/zed/settings.json', 'context_servers'),
  'gemini-cli': inJson('.gemini/settings.json', 'mcpServers'),
  'mistral-vibe': async name =>
    ((parseToml(await read('.vibe/config.toml')).mcp_servers ?? []) as Entry[]).find(
      entry => entry.name === name,
    ),
  codex: async name =>
    (parseToml(await read('.codex/config.toml')).mcp_servers as Record<string, Entry> | undefined)?.[name],
  'kimi-cli': inJson('.kimi/mcp.json', 'mcpServers'),
  factory: inJson('.factory/mcp.json', 'mcpServers'),
  'copilot-cli': inJson('.copilot/mcp-config.json', 'mcpServers'),
  qoder: inJson('.qoder/mcp.json', 'mcpServers'),
}
const IDS = Object.keys(READERS)

/** Type values of clients that write one: for streamable HTTP, and for SSE. */
const TYPES: Record<string, readonly [http: string, sse: string]> = {
  'roo-code': ['streamable-http', 'sse'],
  cline: ['streamableHttp', 'sse'],
  goose: ['streamable_http', 'sse'],
  continue: ['streamable-http', 'sse'],
  opencode: ['remote', 'remote'],
  'mistral-vibe': ['streamable-http', 'http'],
  ...Object.fromEntries(
    [
      'vscode',
      'vscode-insider',
      'cursor',
      'claude-code',
      'windsurf',
      'windsurf-jetbrains',
      'amp-cli',
      'lm-studio',
      'factory',
      'copilot-cli',
      'qoder',
    ].map(id => [id, ['http', 'sse']]),
  ),
}

const URL_FIELDS: Record<string, string> = {
  windsurf: 'serverUrl',
  'windsurf-jetbrains': 'serverUrl',
  antigravity: 'serverUrl',
  goose: 'uri',
}
const urlField = (id: string, sse: boolean) =>
  id === 'gemini-cli' ? (sse ? 'url' : 'httpUrl') : (URL_FIELDS[id] ?? 'url')

let home: Home
const run = (name: string, ...more: string[]) =>
  home.ok([
    'run',
    'npx://@modelcontextprotocol/server-everything@2026.8.31',
    '--runtime',
    'process',
    '--name',
    name,
    ...more,
  ])
const entriesOf = (name: string) => Promise.all(IDS.map(async id => [id, await READERS[id]?.(name)] as const))
const clientsWith = async (name: string) =>
  (await entriesOf(name)).filter(([, entry]) => entry !== undefined).map(([id]) => id)

beforeAll(async () => {
  home = await openHome()
  await home.ok(['client', 'register', ...IDS])
  await run('modern')
  await run('classic', '--proxy-mode', 'sse')
}, 300_000)
afterAll(() => home.close(), 120_000)

test.each(IDS)('%s: the official client reaches both servers at the URLs in its file', async id => {
  for (const [name, sse] of [
    ['modern', false],
    ['classic', true],
  ] as const) {
    const entry = await READERS[id]?.(name)
    const url = new URL(String(entry?.[urlField(id, sse)]))
    const client = new Client({ name: id, version: '1' }, { capabilities: {} })
    const transport = sse ? new SSEClientTransport(url) : new StreamableHTTPClientTransport(url)
    await client.connect(transport as Transport)
    const { tools } = await client.listTools()
    await client.close()
    expect(tools.map(tool => tool.name)).toContain('echo')
    expect(entry?.[id === 'mistral-vibe' ? 'transport' : 'type']).toBe(TYPES[id]?.[sse ? 1 : 0])
  }
})

test('entries go when a workload stops, and come back when it starts', async () => {
  await home.ok(['stop', 'modern'])
  expect(await clientsWith('modern')).toEqual([])
  expect(await clientsWith('classic')).toEqual(IDS)
  await home.ok(['start', 'modern'])
  expect(await clientsWith('modern')).toEqual(IDS)
})

test('after kill -9 of the supervisor the next command leaves the files right', async () => {
  const before = await home.supervisor()
  process.kill(before, 'SIGKILL')
  await home.ok(['stop', 'modern'])
  expect(await home.supervisor()).not.toBe(before)
  expect(await clientsWith('modern')).toEqual([])
  expect(await clientsWith('classic')).toEqual(IDS)
  await home.ok(['start', 'modern'])
})

test('a stop that was killed half way is finished by any command', async () => {
  const pid = await home.supervisor()
  const stopping = home.start(['stop', 'modern'])
  const ended = new Promise(resolve => stopping.once('exit', resolve))
  await vi.waitFor(
    async () => {
      const { status } = JSON.parse(await read('.local/share/keelson/statuses/modern.json'))
      if (status === 'running') throw new Error('not yet')
    },
    { interval: 1, timeout: 20_000 },
  )
  stopping.kill('SIGKILL')
  process.kill(pid, 'SIGKILL')
  await ended
  await home.ok(['list'])
  await until(async () => expect(await clientsWith('modern')).toEqual([]))
  await home.ok(['start', 'modern'])
})

test('a workload in the foreground is there while it runs', async () => {
  await home.ok(['stop', 'classic'])
  const started = home.start(['start', '--foreground', 'classic'])
  const ended = new Promise(resolve => started.once('exit', resolve))
  await until(async () => expect(await clientsWith('classic')).toEqual(IDS))
  started.kill('SIGINT')
  await ended
  expect(await clientsWith('classic')).toEqual([])
})

test('entries go with their workload, and with the registration', async () => {
  await home.ok(['start', 'classic'])
  await home.ok(['rm', 'classic'])
  expect(await clientsWith('classic')).toEqual([])
  expect(await clientsWith('modern')).toEqual(IDS)
  await home.ok(['client', 'remove', ...IDS.slice(1)])
  expect(await clientsWith('modern')).toEqual(IDS.slice(0, 1))
})
