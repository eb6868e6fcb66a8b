import type { CallFacts } from '../call-facts.ts'
import type { Instruments } from './instruments.ts'
import { createLabelValues } from './label-values.ts'

/** What is measured of one request. */
export interface Measured {
  readonly httpMethod: string
  readonly status: number
  readonly call: CallFacts | undefined
  /** Of an error in the JSON-RPC response. */
  readonly rpcCode: number | undefined
  /** Undefined: nothing that the conventions for MCP call an error. */
  readonly errorType: string | undefined
  /** Whether the server has responded with a result. */
  readonly isProven: boolean
}

/** Measures the requests of one workload. */
export interface WorkloadMeter {
  /** Counts a request or an event stream as active until the returned function is called, which may be called twice. */
  open(options: { isStream: boolean }): () => void
  /** Returns a promise where it has to wait for a list of the server's tools. */
  measure(measured: Measured, seconds: number): void | Promise<void>
}

export function createWorkloadMeter(
  instruments: Instruments,
  {
    server,
    transport,
    isListed,
  }: { server: string; transport: string; isListed: (tool: string) => boolean | Promise<boolean> },
): WorkloadMeter {
  const values = createLabelValues(isListed)

  function record(
    measured: Measured,
    seconds: number,
    { method, resource }: Record<'method' | 'resource', string>,
  ): void {
    const { httpMethod, status, call, rpcCode, errorType } = measured
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
  }

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
    measure(measured, seconds) {
      const { call, isProven } = measured
      const method = call ? values.methodOf(call, isProven) : ''
      const found = call ? values.resourceOf(call, isProven) : ''
      if (typeof found === 'string') return record(measured, seconds, { method, resource: found })
      return found.then(resource => record(measured, seconds, { method, resource }))
    },
  }
}
