import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CLIENTS } from '../../../plugins/clients/known-clients.ts'
import { isInstalled, locate } from '../../../plugins/clients/locate-client.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const clientOf = (id: string) => {
  const client = CLIENTS.find(candidate => candidate.id === id)
  if (!client) throw new Error(`no client ${id}`)
  return client
}
const fileOf = (id: string, platform: NodeJS.Platform, env = {}) =>
  locate(clientOf(id).file, { home: '/home/me', env, platform })

test('there are 26 clients, each once', () => {
  expect(new Set(CLIENTS.map(({ id }) => id)).size).toBe(26)
  expect(CLIENTS).toHaveLength(26)
})

test.each<[string, linux: string, macos: string, windows: string]>([
  [
    'vscode',
    '.config/Code/User/mcp.json',
    'Library/Application Support/Code/User/mcp.json',
    'AppData/Roaming/Code/User/mcp.json',
  ],
  [
    'cline',
    '.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
    'Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
    'AppData/Roaming/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
  ],
  [
    'trae',
    '.config/Trae/User/mcp.json',
    'Library/Application Support/Trae/User/mcp.json',
    'AppData/Roaming/Trae/User/mcp.json',
  ],
  [
    'claude-desktop',
    '.config/Claude/claude_desktop_config.json',
    'Library/Application Support/Claude/claude_desktop_config.json',
    'AppData/Roaming/Claude/claude_desktop_config.json',
  ],
  ['amp-cli', '.config/amp/settings.json', '.config/amp/settings.json', 'AppData/Roaming/amp/settings.json'],
  ['zed', '.config/zed/settings.json', '.config/zed/settings.json', 'AppData/Roaming/zed/settings.json'],
  ['goose', '.config/goose/config.yaml', '.config/goose/config.yaml', 'AppData/Block/goose/config.yaml'],
  [
    'opencode',
    '.config/opencode/opencode.json',
    '.config/opencode/opencode.json',
    '.config/opencode/opencode.json',
  ],
  ['qoder', '.qoder/mcp.json', '.qoder/mcp.json', 'AppData/Roaming/Qoder/SharedClientCache/mcp.json'],
  ['vscode-server', ...same('.vscode-server/data/User/mcp.json')],
  ['cursor', ...same('.cursor/mcp.json')],
  ['claude-code', ...same('.claude.json')],
  ['codex', ...same('.codex/config.toml')],
])('%s keeps its file where its makers say', (id, linux, macos, windows) => {
  expect(fileOf(id, 'linux')).toBe(`/home/me/${linux}`)
  expect(fileOf(id, 'darwin')).toBe(`/home/me/${macos}`)
  expect(fileOf(id, 'win32')).toBe(`/home/me/${windows}`)
})

function same(path: string): [string, string, string] {
  return [path, path, path]
}

test('a moved folder for configuration is followed, and no other', () => {
  const env = { XDG_CONFIG_HOME: '/elsewhere', APPDATA: '/roaming' }
  expect(fileOf('zed', 'linux', env)).toBe('/elsewhere/zed/settings.json')
  expect(fileOf('vscode', 'linux', env)).toBe('/elsewhere/Code/User/mcp.json')
  expect(fileOf('goose', 'linux', env)).toBe('/elsewhere/goose/config.yaml')
  expect(fileOf('cursor', 'linux', env)).toBe('/home/me/.cursor/mcp.json')
  expect(fileOf('zed', 'darwin', env)).toBe('/home/me/.config/zed/settings.json')
  expect(fileOf('zed', 'win32', env)).toBe('/roaming/zed/settings.json')
  expect(fileOf('qoder', 'win32', env)).toBe('/roaming/Qoder/SharedClientCache/mcp.json')
  expect(fileOf('zed', 'linux', { XDG_CONFIG_HOME: 'relative' })).toBe('/home/me/.config/zed/settings.json')
})

test('a client is installed when the folder of its file is there; Claude Code when its file is', async () => {
  const home = await temporaryFolder()
  const surroundings = { home, env: {}, platform: 'linux' as const }
  const installed = async () => {
    const answers = await Promise.all(
      CLIENTS.map(async client => [client.id, await isInstalled(client, surroundings)]),
    )
    return answers.filter(([, is]) => is).map(([id]) => id)
  }
  expect(await installed()).toEqual([])
  await mkdir(join(home, '.cursor'))
  await mkdir(join(home, '.vibe'))
  expect(await installed()).toEqual(['cursor', 'mistral-vibe'])
  await writeFile(join(home, '.claude.json'), '{}')
  expect(await installed()).toEqual(['cursor', 'claude-code', 'mistral-vibe'])
})

test('those that read skills, where, and those that do not', () => {
  const without = CLIENTS.filter(({ skills }) => !skills).map(({ id }) => id)
  expect(without.sort()).toEqual([
    'claude-desktop',
    'continue',
    'copilot-cli',
    'lm-studio',
    'vscode-server',
    'windsurf-jetbrains',
    'zed',
  ])
  expect(CLIENTS.filter(({ plugins }) => plugins).map(({ id }) => id)).toEqual(['claude-code', 'codex'])
  const folderOf = (id: string, platform: NodeJS.Platform) => {
    const { skills } = clientOf(id)
    return skills && locate(skills.user, { home: '/home/me', env: {}, platform })
  }
  expect(folderOf('vscode', 'linux')).toBe('/home/me/.copilot/skills')
  expect(clientOf('vscode').skills?.project).toBe('.github/skills')
  expect(folderOf('goose', 'darwin')).toBe('/home/me/.agents/skills')
  expect(folderOf('opencode', 'linux')).toBe('/home/me/.config/opencode/skills')
  expect(folderOf('opencode', 'win32')).toBe('/home/me/opencode/skills')
})
