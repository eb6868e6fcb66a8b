import type { LogExports } from '../../src/contracts/log-export.ts'
import type { Plugin } from '../../src/plugin.ts'
import { telemetryHooks } from './hooks.ts'
import { type Telemetries, telemetryMiddlewares } from './middlewares.ts'
import { telemetryPreparation } from './preparation.ts'
import type { MetricsListeners } from './prometheus/metrics-listeners.ts'
import { telemetrySection } from './section.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    logExports: LogExports
    metricsListeners: MetricsListeners
    telemetries: Telemetries
  }
}

/** Sends traces and metrics of what is asked of a workload to an OpenTelemetry collector of the user's. */
const telemetry: Plugin = {
  name: 'telemetry',
  needs: ['proxy', 'secrets', 'settings'],
  uses: ['settings'],
  services: {
    logExports: async app => (await import('./logs/log-exports.ts')).createLogExports(app),
    metricsListeners: async () =>
      (await import('./prometheus/metrics-listeners.ts')).createMetricsListeners(),
    telemetries: () => new WeakMap(),
  },
  provides: {
    sections: [telemetrySection],
    preparations: [telemetryPreparation],
    middlewares: telemetryMiddlewares,
    hooks: [telemetryHooks],
  },
}
export default telemetry
