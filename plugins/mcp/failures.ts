import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  mcp_server_stopped: {
    status: 409,
    text: (d: { name: string; status: string; reason?: string | undefined }) =>
      `The workload "${d.name}" is not running: it is ${d.status}${d.reason ? `: ${d.reason}` : '.'}`,
    hint: d => `Start it with \`keelson start ${d.name}\`; \`keelson logs ${d.name}\` may say why it is not.`,
  },
  mcp_unreachable: {
    status: 502,
    text: (d: { url: string; problem: string }) => `No MCP server responds at ${d.url}: ${d.problem}`,
    hint: 'Check the address and that the server runs; `keelson list --all` shows your workloads with theirs.',
  },
  mcp_unauthorized: {
    status: 401,
    text: (d: { url: string; status: number }) =>
      `The server at ${d.url} refuses the request (HTTP ${d.status}): it requires a login.`,
    hint: 'Run it as a workload, which can log in (`keelson run URL`), and name that workload.',
  },
  mcp_workload_guarded: {
    status: 401,
    text: (d: { name: string; status: number }) =>
      `The workload "${d.name}" refuses the request (HTTP ${d.status}): its callers have to log in.`,
    hint: d =>
      `Connect with a client that can log in, such as an editor. \`keelson tools ${d.name}\` lists the tools without a login.`,
  },
  mcp_timeout: {
    status: 504,
    text: (d: { url: string; seconds: number }) =>
      `The server at ${d.url} did not respond within ${d.seconds} s.`,
    hint: 'Allow it more with --timeout, e.g. --timeout 2m.',
  },
  mcp_limited: {
    status: 429,
    text: (d: { what: string; seconds?: number | undefined }) =>
      `A limit is reached, so ${d.what} was refused (HTTP 429).${d.seconds === undefined ? '' : ` Try again in ${d.seconds} s.`}`,
    hint: 'For a workload, --rate-limit and --max-concurrent-calls set the limits; `keelson status` shows them.',
  },
  mcp_call_late: {
    status: 504,
    text: (d: { what: string }) => `The server did not respond in time, so ${d.what} was ended.`,
    hint: 'For a workload, --call-timeout says how long a call may take.',
  },
  mcp_not_allowed: {
    status: 403,
    text: (d: { what: string }) => `The policies of the workload do not allow ${d.what}.`,
    hint: 'The file of --authz-config holds the policies; `keelson authz test` says what they decide.',
  },
  mcp_refused: {
    status: 502,
    text: (d: { what: string; message: string; code: number }) =>
      `The server refused ${d.what}: ${d.message} (JSON-RPC error ${d.code}).`,
    hint: '`keelson mcp list --server NAME` shows what the server offers.',
  },
  mcp_tool_unknown: {
    status: 404,
    text: (d: { tool: string; near?: string | undefined }) => `The server has no tool "${d.tool}".`,
    hint: d =>
      `${d.near === undefined ? '' : `Did you mean "${d.near}"? `}\`keelson mcp list tools --server NAME\` shows them.`,
  },
  mcp_tool_failed: {
    status: 502,
    text: (d: { tool: string }) => `The tool "${d.tool}" reports that it failed.`,
    hint: d =>
      `The result is printed above. \`keelson mcp inspect ${d.tool} --server NAME\` shows the arguments it takes; --ignore-tool-error accepts the failure.`,
  },
})
