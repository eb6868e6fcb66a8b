import { useState } from 'preact/hooks'
import type { Workload } from '../page-types.d.ts'
import { CopyButton } from './copy-button.tsx'

/** How applications write a server, for those that are configured by hand; docs/clients.md has the whole table. */
const FORMS: Readonly<Record<string, (server: { name: string; url: string; mode: string }) => string>> = {
  'Claude Code': ({ name, url, mode }) =>
    `claude mcp add --transport ${mode === 'sse' ? 'sse' : 'http'} ${name} ${url}`,
  'Cursor and most others (mcpServers)': ({ name, url, mode }) =>
    toJson({ mcpServers: { [name]: { url, type: mode === 'sse' ? 'sse' : 'http' } } }),
  'VS Code (mcp.json)': ({ name, url, mode }) =>
    toJson({ servers: { [name]: { url, type: mode === 'sse' ? 'sse' : 'http' } } }),
  'Codex (config.toml)': ({ name, url }) =>
    `[mcp_servers.${JSON.stringify(name)}]\nurl = ${JSON.stringify(url)}`,
  'Applications that start a program': ({ name }) =>
    toJson({ mcpServers: { [name]: { command: 'keelson', args: ['proxy', 'stdio', name] } } }),
}

const toJson = (value: unknown): string => JSON.stringify(value, null, 2)

/** What to paste into the settings of an application. */
export function Snippet({ workload }: { workload: Workload }) {
  const [form, setForm] = useState('Claude Code')
  const { name, url, transport_type, proxy_mode: mode = transport_type } = workload
  const text = FORMS[form]?.({ name, url, mode }) ?? ''
  return (
    <div class="snippet">
      <select
        aria-label="Application"
        value={form}
        onInput={({ currentTarget }) => setForm(currentTarget.value)}
      >
        {Object.keys(FORMS).map(one => (
          <option key={one}>{one}</option>
        ))}
      </select>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields */}
      <pre class="output" tabIndex={0} role="group" aria-label="What to paste">
        {text}
      </pre>
      <CopyButton text={() => text} label="Copy what to paste" />
    </div>
  )
}
