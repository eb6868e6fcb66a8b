import type { App } from '../../../src/app.ts'
import { readCaBundle } from '../../../src/ca-bundle.ts'
import type { LogExports } from '../../../src/contracts/log-export.ts'
import { readHeaders } from '../header-secrets.ts'
import { telemetryOf } from '../section.ts'
import { settingsOf } from '../settings.ts'

export const createLogExports = (app: App): LogExports => ({
  async open(config, log) {
    if (!telemetryOf(config)?.endpoint) return undefined
    const settings = settingsOf(config)
    if (!settings.endpoint) return undefined
    const [{ openLogExport }, { createSender }, headers, ca] = await Promise.all([
      import('./open-log-export.ts'),
      import('../otlp/create-sender.ts'),
      readHeaders(app, config),
      readCaBundle(settings.caCertPath),
    ])
    return openLogExport(settings, createSender({ base: settings.endpoint.base, headers, ca, log }))
  },
})
