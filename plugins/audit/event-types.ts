import type { JsonRpcMessage } from '../../src/net/json-rpc.ts'

/** What an event is of: a kind of MCP message, a stream, or another HTTP request. */
export const EVENT_TYPES = [
  'mcp_initialize',
  'mcp_tool_call',
  'mcp_tools_list',
  'mcp_resource_read',
  'mcp_resources_list',
  'mcp_prompt_get',
  'mcp_prompts_list',
  'mcp_notification',
  'mcp_ping',
  'mcp_logging',
  'mcp_completion',
  'mcp_roots_list_changed',
  'mcp_request',
  'mcp_response',
  'sse_connection',
  'http_request',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

const BY_METHOD: Readonly<Record<string, EventType>> = {
  initialize: 'mcp_initialize',
  'tools/call': 'mcp_tool_call',
  'tools/list': 'mcp_tools_list',
  'resources/read': 'mcp_resource_read',
  'resources/list': 'mcp_resources_list',
  'prompts/get': 'mcp_prompt_get',
  'prompts/list': 'mcp_prompts_list',
  ping: 'mcp_ping',
  'logging/setLevel': 'mcp_logging',
  'completion/complete': 'mcp_completion',
  'notifications/roots/list_changed': 'mcp_roots_list_changed',
}

/** The type of a message of a client. */
export function typeOfMessage(message: JsonRpcMessage): EventType {
  if (!('method' in message)) return 'mcp_response'
  const known = Object.hasOwn(BY_METHOD, message.method) ? BY_METHOD[message.method] : undefined
  return known ?? ('id' in message ? 'mcp_request' : 'mcp_notification')
}

/** Types that the run configs of ToolHive may name; nothing here makes such events. */
const OF_AGGREGATION = [
  'vmcp_workflow_started',
  'vmcp_workflow_completed',
  'vmcp_workflow_failed',
  'vmcp_workflow_timed_out',
  'vmcp_workflow_step_started',
  'vmcp_workflow_step_completed',
  'vmcp_workflow_step_failed',
  'vmcp_workflow_step_skipped',
]

/** All that `eventTypes` and `excludeEventTypes` may name. */
export const KNOWN_TYPES: ReadonlySet<string> = new Set([...EVENT_TYPES, ...OF_AGGREGATION])
