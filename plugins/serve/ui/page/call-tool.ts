import type { ToolResult } from '../page-types.d.ts'
import { type Api, Refusal } from './api.ts'
import { readEvents } from './read-events.ts'

/** Calls a tool of a workload. Throws what the API refuses, and what the server does. */
export async function callTool(
  api: Api,
  workload: string,
  call: { name: string; arguments: unknown },
  { onProgress, signal }: { onProgress: (text: string) => void; signal: AbortSignal },
): Promise<ToolResult> {
  const path = `/api/v1beta/workloads/${encodeURIComponent(workload)}/tools/call`
  const response = await api.stream(path, signal, call)
  for await (const { name, data } of readEvents(response)) {
    if (name === 'progress') onProgress(String(data))
    if (name === 'result') return data as ToolResult
    if (name === 'failure') throw new Refusal(0, (data as { message: string }).message)
  }
  throw new Refusal(0, 'The connection ended before the result came.')
}
