import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { textOf } from '../../e2e/clients.ts'
import { type Home, openHome } from '../../e2e/home.ts'
import { main } from '../../support/main.ts'
import { type RunningServer, startFixture } from '../../support/mcp-fixtures/start-server.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

// The real program writes the file of a client that cannot speak HTTP; the official client starts what stands there.

interface Entry {
  readonly command: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

let home: Home
let server: RunningServer
const file = () => join(home.path, '.config/Claude/claude_desktop_config.json')
const entries = async (): Promise<Record<string, Entry>> =>
  JSON.parse(await readFile(file(), 'utf8')).mcpServers ?? {}
const names = async () => Object.keys(await entries())

beforeAll(async () => {
  home = await openHome()
  server = await startFixture('http-server-2025.ts')
  await home.ok(['client', 'setup', '--client', 'claude-desktop'])
  await home.ok(['run', `${server.origin}/mcp`, '--name', 'notes'])
}, 180_000)
afterAll(async () => {
  await home?.close()
  await server?.kill()
}, 120_000)

/** Starts the entry as an application does that has nothing but a home folder and the system's own PATH. */
async function startEntry({ command, args, env = {} }: Entry): Promise<Client> {
  const surroundings = { ...getDefaultEnvironment(), HOME: home.path, PATH: '/usr/bin:/bin' }
  const client = new Client({ name: 'desktop', version: '1' }, { capabilities: {} })
  await client.connect(
    new StdioClientTransport({ command, args: [...args], env: { ...surroundings, ...env }, cwd: '/' }),
  )
  onTestFinished(() => client.close())
  return client
}

test('the official client starts what stands in the file, and calls a tool', async () => {
  const { notes } = await entries()
  expect(notes?.args.slice(-3)).toEqual(['proxy', 'stdio', 'notes'])
  const client = await startEntry(notes as Entry)
  expect(client.getServerVersion()?.name).toBe('sessions')
  expect(textOf(await client.callTool({ name: 'test_tool_with_progress', arguments: {} }))).toBe('done')
})

test('entries come and go with what runs, in the groups of the client', async () => {
  await home.ok(['stop', 'notes'])
  expect(await names()).toEqual([])
  await home.ok(['start', 'notes'])
  expect(await names()).toEqual(['notes'])
  await home.ok(['group', 'create', 'research'])
  await home.ok(['run', `${server.origin}/mcp`, '--name', 'papers', '--group', 'research'])
  expect(await names()).toEqual(['notes'])
  await home.ok(['client', 'register', 'claude-desktop', '--group', 'research'])
  expect((await names()).sort()).toEqual(['notes', 'papers'])
  await home.ok(['rm', 'papers'])
  expect(await names()).toEqual(['notes'])
})

test('a restart of a workload and a new supervisor leave the entry as it was', async () => {
  const before = await readFile(file(), 'utf8')
  process.kill(await home.supervisor(), 'SIGKILL')
  await home.ok(['list'])
  await home.ok(['restart', 'notes'])
  expect(await readFile(file(), 'utf8')).toBe(before)
})

test('an entry of the user, and one of ours that leads elsewhere now, are left alone', async () => {
  const mine = { command: 'notes-server', args: ['--stdio'] }
  const document = JSON.parse(await readFile(file(), 'utf8'))
  document.mcpServers.own = mine
  document.mcpServers.notes.args = ['elsewhere']
  await writeFile(file(), JSON.stringify(document, null, 2))
  const { stderr } = await home.keelson(['run', `${server.origin}/mcp`, '--name', 'own'])
  expect(stderr).not.toContain('Error')
  await home.ok(['rm', 'own'])
  await home.ok(['stop', 'notes'])
  expect(await entries()).toEqual({ own: mine, notes: { ...document.mcpServers.notes } })

  delete document.mcpServers.notes
  await writeFile(file(), JSON.stringify(document, null, 2))
  await home.ok(['start', 'notes'])
  expect((await names()).sort()).toEqual(['notes', 'own'])
})

test('a name in PATH that leads to the program is written in its place', async () => {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'bin'))
  await symlink(main, join(folder, 'bin/keelson'))
  const other = await openHome({ PATH: `${join(folder, 'bin')}:${dirname(process.execPath)}:/usr/bin:/bin` })
  onTestFinished(() => other.close())
  await other.ok(['run', `${server.origin}/mcp`, '--name', 'notes'])
  await other.ok(['client', 'register', 'claude-desktop'])
  const text = await readFile(join(other.path, '.config/Claude/claude_desktop_config.json'), 'utf8')
  expect(JSON.parse(text).mcpServers.notes.args[0]).toBe(join(folder, 'bin/keelson'))
})
