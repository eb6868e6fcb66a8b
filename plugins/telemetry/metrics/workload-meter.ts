import type { CallFacts } from '../call-facts.ts'
import { createBoundedValues } from './bounded-values.ts'
import type { Instruments } from './instruments.ts'

/** What is measured of one request. */
export interface Measured {
  readonly httpMethod: string
  readonly status: number
  readonly call: CallFacts | undefined
  /** Of an error in the JSON-RPC response. */
  readonly rpcCode: number | undefined
  /** Undefined: nothing that the conventions for MCP call an error. */
  readonly errorType: string | undefined
}

/** Measures the requests of one workload. */
export interface WorkloadMeter {
  /** Counts a request or an event stream as active until the returned function is called, which may be called twice. */
  open(options: { isStream: boolean }): () => void
  measure(measured: Measured, seconds: number): void
}

export function createWorkloadMeter(
  instruments: Instruments,
  { server, transport }: { server: string; transport: string },
): WorkloadMeter {
  const boundMethod = createBoundedValues()
  const boundResource = createBoundedValues()
  return {
    open({ isStream }) {
      const labels = { server, transport, ...(isStream ? { connection_type: 'sse' } : {}) }
      let isOpen = true
      instruments.active.add(1, labels)
      return () => {
        if (isOpen) instruments.active.add(-1, labels)
        isOpen = false
      }
    },
    measure({ httpMethod, status, call, rpcCode, errorType }, seconds) {
      const method = call ? boundMethod(call.method) : ''
      const resource = call?.resource ? boundResource(call.resource) : ''
      const labels = {
        method: httpMethod,
        status_code: String(status),
        status: status >= 400 ? 'error' : 'success',
        mcp_method: method,
        mcp_resource_id: resource,
        server,
        transport,
      }
      instruments.requests.add(1, labels)
      instruments.duration.record(seconds, labels)
      if (!call) return
      const isFailed = status >= 400 || errorType !== undefined
      if (call.tool !== undefined) {
        instruments.toolCalls.add(1, { server, tool: resource, status: isFailed ? 'error' : 'success' })
      }
      instruments.operation.record(seconds, {
        'mcp.method.name': method,
        'mcp.server.name': server,
        'network.transport': transport === 'stdio' ? 'pipe' : 'tcp',
        ...(call.tool === undefined
          ? {}
          : { 'gen_ai.tool.name': resource, 'gen_ai.operation.name': 'execute_tool' }),
        ...(call.prompt === undefined ? {} : { 'gen_ai.prompt.name': resource }),
        ...(rpcCode === undefined ? {} : { 'rpc.response.status_code': String(rpcCode) }),
        ...(errorType === undefined && status < 400 ? {} : { 'error.type': errorType ?? String(status) }),
      })
    },
  }
}
