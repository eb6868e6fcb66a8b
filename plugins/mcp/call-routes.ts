import { Readable } from 'node:stream'
import type { CallToolResult } from '@modelcontextprotocol/client'
import type { App } from '../../src/app.ts'
import type { Report } from '../../src/contracts/runtime.ts'
import { isFailure, messageOf } from '../../src/errors.ts'
import type { Api } from '../../src/http/api.ts'
import { toFailureResponse } from '../../src/http/failure-response.ts'
import { printableJson } from '../../src/lib/printable.ts'
import { anything, closed, map, object, optional, text } from '../../src/lib/schema.ts'
import { formatSse, type SseEvent } from '../../src/net/sse.ts'
import { workloadName } from '../state/index.ts'
import { callTool } from './call-tool.ts'
import { withServer } from './connect.ts'
import { findServer } from './find-server.ts'

/** A person waits and can cancel; what ends calls earlier is the workload's own --call-timeout. */
const TIMEOUT_MS = 600_000

/** Calls a tool of a workload for a caller of the API. */
export function callRoutes(api: Api, app: App): void {
  api.operation({
    id: 'callWorkloadTool',
    method: 'POST',
    path: '/api/v1beta/workloads/{name}/tools/call',
    params: { name: workloadName },
    tag: 'workloads',
    summary:
      'Calls a tool of a running workload: events `progress` with a JSON string, then `result` with the result as MCP writes it, or `failure` with `{code, message}`. The call is cancelled when the caller disconnects',
    body: object({ name: text, arguments: optional(map(anything)) }, closed),
    response: [200, 'events'],
    failures: [400, 404, 409],
    async handle({ params: { name }, body, signal }) {
      const server = await findServer(app, name, 'auto')
      const call = (report: Report) =>
        withServer(server, { timeoutMs: TIMEOUT_MS, signal, log: app.log }, session =>
          callTool(session, { name: body.name, args: body.arguments ?? {}, report }),
        ).catch(error => {
          if (!isFailure(error) && !signal.aborted) app.log.error(`A tool call failed: ${messageOf(error)}`)
          throw error
        })
      return Readable.from(eventsOf(call))
    },
  })
}

/** The events of one call. Of the progress that the caller has no time to read only the last is kept. */
async function* eventsOf(call: (report: Report) => Promise<CallToolResult>): AsyncGenerator<string> {
  yield ': hello\n\n' // headers go out with the first bytes
  let progress: string | undefined
  let news = Promise.withResolvers<undefined>()
  const outcome = call(text => {
    progress = text
    news.resolve(undefined)
  }).then(toResultEvent, toFailureEvent)
  for (;;) {
    const end = await Promise.race([outcome, news.promise])
    if (end) return yield formatSse(end)
    news = Promise.withResolvers()
    yield formatSse({ event: 'progress', data: printableJson(JSON.stringify(progress)) })
  }
}

const toResultEvent = (result: CallToolResult): SseEvent => ({
  event: 'result',
  data: printableJson(JSON.stringify(result)),
})

const toFailureEvent = (error: unknown): SseEvent => ({
  event: 'failure',
  data: toFailureResponse(error, 'json').body.trim(),
})
