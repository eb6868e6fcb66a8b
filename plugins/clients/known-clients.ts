import type { Step } from './formats/format.ts'

type Platform = 'linux' | 'macos' | 'windows'
type Base = 'home' | 'config' | 'application'

/** A place below the home folder; what differs by platform is spelled out in `locate-client.ts`. */
export interface Place {
  /**
   * `home`: the path as it is. `config`: below `.config` (Windows: the roaming folder).
   * `application`: below the platform's folder for applications' files.
   */
  readonly base: Base
  readonly path: string
  /** Where one platform has its own idea, relative to the home folder. */
  readonly except?: Partial<Readonly<Record<Platform, string>>>
}

/** How a client application wants its list of servers. */
export interface ClientSpec {
  readonly id: string
  /** How people call it. */
  readonly title: string
  readonly file: Place
  readonly format: 'json' | 'yaml' | 'toml'
  /** The key that holds the servers; a dot in it is part of the key. */
  readonly key: string
  /** Servers are members of an object, or elements of a list that are told apart by their `name`. */
  readonly shape: 'map' | 'list'
  /**
   * The member that holds the URL, by what the proxy speaks. Absent where the client cannot speak HTTP: its entries
   * name a program, as `command` and `args`.
   */
  readonly url?: ByMode
  /** The member that names the transport, and its values; absent where there is none. */
  readonly type?: ByMode & { readonly key: string }
  /** Where headers of requests are, below the entry; `headers` without it. */
  readonly headers?: readonly string[]
  /** Members that new entries have besides; `$name` stands for the workload's name. */
  readonly defaults?: Readonly<Record<string, string | number | boolean>>
  /** Where it reads skills from: below the home folder, and below a project's root. */
  readonly skills?: { readonly user: Place; readonly project: string }
  readonly plugins?: true
  /** Why nobody should begin to use it. */
  readonly deprecated?: string
}

interface ByMode {
  readonly 'streamable-http': string
  readonly sse: string
}

const home = (path: string, except?: Place['except']): Place => ({
  base: 'home',
  path,
  ...(except ? { except } : {}),
})
const config = (path: string): Place => ({ base: 'config', path })
const application = (path: string): Place => ({ base: 'application', path })

const field = (name: string): ByMode => ({ 'streamable-http': name, sse: name })
const typed = (http: string, sse = 'sse', key = 'type') => ({ key, 'streamable-http': http, sse })

/** Skills in the same folder below the home folder and below a project. */
const skillsIn = (folder: string) => ({ user: home(folder), project: folder })
const shared = skillsIn('.agents/skills')
const copilotSkills = { user: home('.copilot/skills'), project: '.github/skills' }

/** What most clients have in common: JSON with `mcpServers` and `url`. */
const usual = { format: 'json', key: 'mcpServers', shape: 'map', url: field('url') } as const
const http = typed('http')

/** Every client application that can be registered. */
export const CLIENTS: readonly ClientSpec[] = [
  {
    ...usual,
    id: 'roo-code',
    title: 'Roo Code',
    file: application('Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json'),
    type: typed('streamable-http'),
    skills: skillsIn('.roo/skills'),
    deprecated: 'its makers no longer work on it',
  },
  {
    ...usual,
    id: 'cline',
    title: 'Cline',
    file: application('Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json'),
    type: typed('streamableHttp'),
    skills: skillsIn('.cline/skills'),
  },
  {
    ...usual,
    id: 'vscode',
    title: 'Visual Studio Code',
    file: application('Code/User/mcp.json'),
    key: 'servers',
    type: http,
    skills: copilotSkills,
  },
  {
    ...usual,
    id: 'vscode-insider',
    title: 'Visual Studio Code Insiders',
    file: application('Code - Insiders/User/mcp.json'),
    key: 'servers',
    type: http,
    skills: copilotSkills,
  },
  {
    ...usual,
    id: 'vscode-server',
    title: 'Visual Studio Code Server',
    file: home('.vscode-server/data/User/mcp.json'),
    key: 'servers',
  },
  {
    ...usual,
    id: 'cursor',
    title: 'Cursor',
    file: home('.cursor/mcp.json'),
    type: http,
    skills: skillsIn('.cursor/skills'),
  },
  {
    ...usual,
    id: 'claude-code',
    title: 'Claude Code',
    file: home('.claude.json'),
    type: http,
    skills: skillsIn('.claude/skills'),
    plugins: true,
  },
  {
    id: 'claude-desktop',
    title: 'Claude Desktop',
    file: application('Claude/claude_desktop_config.json'),
    format: 'json',
    key: 'mcpServers',
    shape: 'map',
  },
  {
    ...usual,
    id: 'windsurf',
    title: 'Windsurf',
    file: home('.codeium/windsurf/mcp_config.json'),
    url: field('serverUrl'),
    type: http,
    skills: { user: home('.codeium/windsurf/skills'), project: '.windsurf/skills' },
  },
  {
    ...usual,
    id: 'windsurf-jetbrains',
    title: 'Windsurf for JetBrains',
    file: home('.codeium/mcp_config.json'),
    url: field('serverUrl'),
    type: http,
  },
  {
    ...usual,
    id: 'amp-cli',
    title: 'Amp',
    file: config('amp/settings.json'),
    key: 'amp.mcpServers',
    type: http,
    skills: shared,
  },
  { ...usual, id: 'lm-studio', title: 'LM Studio', file: home('.lmstudio/mcp.json'), type: http },
  {
    id: 'goose',
    title: 'Goose',
    file: home('.config/goose/config.yaml', { windows: 'AppData/Block/goose/config.yaml' }),
    format: 'yaml',
    key: 'extensions',
    shape: 'map',
    url: field('uri'),
    type: typed('streamable_http'),
    defaults: { name: '$name', enabled: true, timeout: 60, description: '' },
    skills: shared,
  },
  { ...usual, id: 'trae', title: 'Trae', file: application('Trae/User/mcp.json'), skills: shared },
  {
    id: 'continue',
    title: 'Continue',
    file: home('.continue/config.yaml'),
    format: 'yaml',
    key: 'mcpServers',
    shape: 'list',
    url: field('url'),
    type: typed('streamable-http'),
    headers: ['requestOptions', 'headers'],
  },
  {
    ...usual,
    id: 'opencode',
    title: 'OpenCode',
    file: home('.config/opencode/opencode.json'),
    key: 'mcp',
    type: typed('remote', 'remote'),
    skills: {
      user: home('.config/opencode/skills', { windows: 'opencode/skills' }),
      project: '.opencode/skills',
    },
  },
  {
    ...usual,
    id: 'kiro',
    title: 'Kiro',
    file: home('.kiro/settings/mcp.json'),
    skills: skillsIn('.kiro/skills'),
  },
  {
    ...usual,
    id: 'antigravity',
    title: 'Antigravity',
    file: home('.gemini/antigravity/mcp_config.json'),
    url: field('serverUrl'),
    skills: shared,
  },
  { ...usual, id: 'zed', title: 'Zed', file: config('zed/settings.json'), key: 'context_servers' },
  {
    ...usual,
    id: 'gemini-cli',
    title: 'Gemini CLI',
    file: home('.gemini/settings.json'),
    url: { 'streamable-http': 'httpUrl', sse: 'url' },
    skills: shared,
  },
  {
    id: 'mistral-vibe',
    title: 'Mistral Vibe',
    file: home('.vibe/config.toml'),
    format: 'toml',
    key: 'mcp_servers',
    shape: 'list',
    url: field('url'),
    type: typed('streamable-http', 'http', 'transport'),
    skills: skillsIn('.vibe/skills'),
  },
  {
    id: 'codex',
    title: 'Codex',
    file: home('.codex/config.toml'),
    format: 'toml',
    key: 'mcp_servers',
    shape: 'map',
    url: field('url'),
    headers: ['http_headers'],
    skills: shared,
    plugins: true,
  },
  {
    ...usual,
    id: 'kimi-cli',
    title: 'Kimi CLI',
    file: home('.kimi/mcp.json'),
    skills: skillsIn('.kimi/skills'),
  },
  {
    ...usual,
    id: 'factory',
    title: 'Factory',
    file: home('.factory/mcp.json'),
    type: http,
    skills: skillsIn('.factory/skills'),
  },
  { ...usual, id: 'copilot-cli', title: 'Copilot CLI', file: home('.copilot/mcp-config.json'), type: http },
  {
    ...usual,
    id: 'qoder',
    title: 'Qoder',
    file: home('.qoder/mcp.json', { windows: 'AppData/Roaming/Qoder/SharedClientCache/mcp.json' }),
    type: http,
    skills: skillsIn('.qoder/skills'),
  },
]

/** Where the entry of a server stands in the client's file. */
export const pathOf = (client: ClientSpec, server: string): readonly Step[] => [
  client.key,
  client.shape === 'map' ? server : { where: 'name', is: server },
]
