import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  endpoint_unknown: {
    status: 404,
    text: (d: { name: string }) => `"${d.name}" is a workload, not an endpoint.`,
    hint: '`keelson endpoint list` shows the endpoints.',
  },
  endpoint_tool_unknown: {
    status: 404,
    text: (d: { endpoint: string; tool: string }) => `No server of "${d.endpoint}" lists a tool "${d.tool}".`,
    hint: (d: { endpoint: string; tool: string }) =>
      `\`keelson mcp list tools --server ${d.endpoint}\` shows the tools. A server may hide it itself (--tools).`,
  },
  endpoint_file_unreadable: {
    status: 400,
    exit: 2,
    text: (d: { path: string; problem: string }) =>
      `${d.path} is not a configuration of a vMCP: ${d.problem}.`,
    hint: 'It is YAML or JSON with `name`, `groupRef` or `backends`, and `aggregation`.',
  },
  composite_tools_invalid: {
    status: 400,
    exit: 2,
    text: (d: { path: string; problem: string }) =>
      `The composite tools in ${d.path} cannot be used: ${d.problem}.`,
    hint: '`docs/endpoints.md` shows how they are written.',
  },
  endpoint_of_endpoint: {
    status: 400,
    exit: 2,
    text: (d: { server: string }) =>
      `"${d.server}" is an endpoint itself, and cannot be a server of another one.`,
    hint: 'Name the servers behind it.',
  },
})
