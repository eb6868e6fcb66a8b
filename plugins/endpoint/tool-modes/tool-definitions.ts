import type { ListedTools } from './listed-tools.ts'

/** Tools of the endpoint itself. */
export const FIND_TOOLS = 'find_tools'
export const DESCRIBE_TOOL = 'describe_tool'
export const CALL_TOOL = 'call_tool'

/** How many tools `find_tools` returns. */
export const [USUAL_RESULTS, MOST_RESULTS] = [8, 30]

/** Servers that a description names; the others are counted. */
const MOST_SERVERS = 40

const text = (description: string) => ({ type: 'string', description })
const input = (properties: Readonly<Record<string, object>>, ...required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
})
const READ_ONLY = { readOnlyHint: true, openWorldHint: false }

const findTools = (listed: ListedTools) => ({
  name: FIND_TOOLS,
  title: 'Find tools',
  description:
    `Search the ${listed.tools.size} tools behind this server by keywords: what to do, and to what. ` +
    `Returns names, arguments and one line each. Tools by server: ${serversOf(listed)}. ` +
    'Search here before you conclude that something cannot be done.',
  inputSchema: input(
    {
      query: text('Keywords, e.g. "create issue"'),
      limit: { type: 'integer', minimum: 1, maximum: MOST_RESULTS, default: USUAL_RESULTS },
    },
    'query',
  ),
  annotations: READ_ONLY,
})

export const describeTool = {
  name: DESCRIBE_TOOL,
  title: 'Describe a tool',
  description: 'Returns the full definition of a tool: description, input schema, annotations.',
  inputSchema: input({ name: text('The name of the tool') }, 'name'),
  annotations: READ_ONLY,
}

const callTool = {
  name: CALL_TOOL,
  title: 'Call a tool',
  description: `Calls a tool that ${FIND_TOOLS} has returned.`,
  inputSchema: input(
    { name: text('The name of the tool'), arguments: { type: 'object', description: 'Its arguments' } },
    'name',
  ),
}

/** What clients get in place of all definitions. */
export const searchTools = (listed: ListedTools): readonly object[] => [
  findTools(listed),
  describeTool,
  callTool,
]

/** The servers of the tools with the number of their tools. Their names are the user's, never a server's. */
function serversOf({ tools }: ListedTools): string {
  const counts = new Map<string, number>()
  for (const { server } of tools.values()) if (server) counts.set(server, (counts.get(server) ?? 0) + 1)
  const shown = [...counts].slice(0, MOST_SERVERS).map(([server, count]) => `${server} (${count})`)
  const others = counts.size - shown.length
  return [...shown, ...(others > 0 ? [`${others} more servers`] : [])].join(', ') || 'none now'
}
