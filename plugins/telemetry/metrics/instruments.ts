import type { Meter } from '@opentelemetry/api'

/** Upper bounds of the buckets of durations, in seconds. */
const BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]

export type Instruments = ReturnType<typeof createInstruments>

/** What is measured. The first four have the names that dashboards for ToolHive expect. */
export function createInstruments(meter: Meter) {
  const advice = { explicitBucketBoundaries: BUCKETS }
  return {
    requests: meter.createCounter('toolhive_mcp_requests', { description: 'Requests' }),
    duration: meter.createHistogram('toolhive_mcp_request_duration', {
      description: 'Time from a request to the end of its response',
      unit: 's',
      advice,
    }),
    active: meter.createUpDownCounter('toolhive_mcp_active_connections', {
      description: 'Requests and event streams under way',
    }),
    toolCalls: meter.createCounter('toolhive_mcp_tool_calls', { description: 'Calls of tools' }),
    /** OpenTelemetry semantic conventions for MCP. */
    operation: meter.createHistogram('mcp.server.operation.duration', {
      description: 'Duration of an MCP request or notification',
      unit: 's',
      advice,
    }),
  }
}
