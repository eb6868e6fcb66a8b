import { flag } from '../../../src/cli/flags.ts'
import { NAMINGS } from '../names/naming.ts'
import type { EndpointSettings } from '../section.ts'
import { TOOL_MODES } from '../tool-modes/modes.ts'

/** Flags for the settings of an endpoint. */
export const settingsFlags = {
  group: flag.string('the group whose servers are behind the endpoint', {
    placeholder: 'NAME',
    completes: 'groups',
  }),
  server: flag.list('a server behind the endpoint, in place of a group', 'NAME', { completes: 'workloads' }),
  naming: flag.choice(
    'how tools are named: with the name of their server before them, only where two have the same name, or never',
    NAMINGS,
    'prefix',
  ),
  'tool-mode': flag.choice(
    'what clients get of the tools: all definitions, a line each, or tools to find and call them',
    TOOL_MODES,
    'all',
  ),
  view: flag.list('a set of tools at /mcp/NAME; edit replaces all views', 'NAME=TOOLS'),
  'call-timeout': flag.duration(
    'how long a call may take without progress; ten times as long with progress',
    '10m',
  ),
  'composite-tools': flag.file('file with tools that are made of calls of others (YAML or JSON)'),
  'for-clients': flag.boolean('client applications get this URL in place of those of its servers'),
}

interface Values {
  readonly group: string | undefined
  readonly server: readonly string[]
  readonly naming: EndpointSettings['naming']
  readonly 'tool-mode': EndpointSettings['tool_mode']
  readonly view: readonly string[]
  readonly 'call-timeout': number | undefined
  readonly 'composite-tools': string | undefined
  readonly 'for-clients': boolean
}

/** The settings that the flags say; only those `given`. Reads the files that they name. */
export async function toSettings(values: Values, given: ReadonlySet<string>): Promise<EndpointSettings> {
  const {
    group,
    server,
    naming,
    'tool-mode': mode,
    view,
    'composite-tools': file,
    'call-timeout': timeout,
    'for-clients': forClients,
  } = values
  return {
    ...(group === undefined ? {} : { group }),
    ...(server.length === 0 ? {} : { servers: [...server] }),
    ...(given.has('naming') && naming ? { naming } : {}),
    ...(given.has('tool-mode') && mode ? { tool_mode: mode } : {}),
    ...(view.length === 0 ? {} : { views: toViews(view) }),
    ...(given.has('call-timeout') && timeout !== undefined
      ? { call_timeout: Math.ceil(timeout / 1000) }
      : {}),
    ...(file === undefined
      ? {}
      : {
          composite_tools: await (await import('../composite/read-composite-file.ts')).readCompositeFile(
            file,
          ),
        }),
    ...(given.has('for-clients') ? { for_clients: forClients } : {}),
  }
}

/** `NAME=PATTERN,PATTERN`, each; the section checks what comes out. */
const toViews = (written: readonly string[]): Record<string, string[]> =>
  Object.fromEntries(
    written.map(text => {
      const [name = '', tools = ''] = text.split('=', 2)
      return [name, tools.split(',').map(tool => tool.trim())]
    }),
  )
