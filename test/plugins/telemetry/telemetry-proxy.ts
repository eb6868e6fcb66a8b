import { PassThrough } from 'node:stream'
import audit from '../../../plugins/audit/index.ts'
import telemetry from '../../../plugins/telemetry/index.ts'
import type { TelemetryConfig } from '../../../plugins/telemetry/section.ts'
import { createApp } from '../../../src/app.ts'
import type { MiddlewareFactory } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Attachment } from '../../../src/contracts/runtime.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'
import { type TestProxy, testProxy } from '../proxy/test-proxy.ts'

/** The factories as the program has them, for one process. */
export function telemetryFactories(env: Record<string, string> = {}): readonly MiddlewareFactory[] {
  const app = createApp({
    paths: findPaths({ HOME: '/nowhere' }),
    log: createLog({ write: () => {}, human: false, debug: false }),
    env,
    entries: [
      { name: 'audit', services: ['auditLogs', 'auditRecords'], load: async () => audit },
      {
        name: 'telemetry',
        services: ['logExports', 'metricsListeners', 'telemetries'],
        load: async () => telemetry,
      },
    ],
  })
  return [audit, telemetry].flatMap(({ provides }) => provides?.middlewares ?? []).map(make => make(app))
}

/** A proxy with telemetry, in front of a server of this process. All traces are sent unless the test says otherwise. */
export const telemetryProxy = (options: {
  telemetry: TelemetryConfig
  target?: string
  config?: Partial<RunConfig>
  env?: Record<string, string>
  factories?: readonly MiddlewareFactory[]
  middlewares?: readonly MiddlewareFactory[]
}): Promise<TestProxy> =>
  testProxy({
    ...(options.target === undefined ? {} : { target: options.target }),
    config: {
      ...options.config,
      telemetry_config: { samplingRate: '1', insecure: true, ...options.telemetry },
    },
    middlewares: [...(options.factories ?? telemetryFactories(options.env)), ...(options.middlewares ?? [])],
  })

/** A stdio server in this process: it returns an empty result for each request, and keeps the lines that it got. */
export function stdioServer(): { readonly attachment: Attachment; readonly lines: readonly string[] } {
  const lines: string[] = []
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  let rest = ''
  stdin.on('data', chunk => {
    const parts = (rest + chunk).split('\n')
    rest = parts.pop() ?? ''
    for (const line of parts.filter(Boolean)) {
      lines.push(line)
      const { id, params } = JSON.parse(line)
      if (id === undefined) continue
      const outcome = params?.name === 'broken' ? { isError: true, content: [] } : {}
      stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: outcome })}\n`)
    }
  })
  const attachment: Attachment = { stdin, stdout, stderr, exit: new Promise(() => {}), detach: () => {} }
  return { attachment, lines }
}
