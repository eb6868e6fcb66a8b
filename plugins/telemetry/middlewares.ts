import type { App } from '../../src/app.ts'
import type { Middleware, MiddlewareContext, MiddlewareFactory } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { Log } from '../../src/log.ts'
import { readHeaders } from './header-secrets.ts'
import type { OpenTelemetry } from './open-telemetry.ts'
import { telemetryOf } from './section.ts'

/** The telemetry of each proxy that is open, by the run config that it was opened with. */
export type Telemetries = WeakMap<RunConfig, Promise<OpenTelemetry>>

/** Sends what is asked of a workload to a collector, where the run config says so. Nothing is loaded otherwise. */
const requestMiddleware = partOf('requests')

const refusedMiddleware = partOf('refused')

/** Serves metrics on the port of the proxy, where the run config says so. */
const metricsMiddleware = partOf('metricsPath')

export const telemetryMiddlewares = [refusedMiddleware, requestMiddleware, metricsMiddleware]

function partOf(part: keyof OpenTelemetry) {
  return (app: App): MiddlewareFactory =>
    async (config, _listener, { log, listTools }): Promise<Middleware | undefined> => {
      if (!telemetryOf(config)) return undefined
      const telemetries = await app.service('telemetries')
      const forget = () => telemetries.delete(config)
      const opened = telemetries.get(config) ?? open(app, config, { log, listTools, onClose: forget })
      telemetries.set(config, opened)
      opened.catch(forget)
      return (await opened)[part]
    }
}

async function open(
  app: App,
  config: RunConfig,
  options: {
    readonly log: Log
    readonly listTools: MiddlewareContext['listTools']
    readonly onClose: () => void
  },
): Promise<OpenTelemetry> {
  const { openTelemetry } = await import('./open-telemetry.ts')
  const [headers, listeners] = await Promise.all([readHeaders(app, config), app.service('metricsListeners')])
  return openTelemetry(config, { ...options, env: app.env, headers, listeners })
}
