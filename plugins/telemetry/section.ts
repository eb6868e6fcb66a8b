import type { RunConfig } from '../../src/contracts/run-config.ts'
import { isEmpty } from '../../src/lib/is-empty.ts'
import { nullable, type ObjectOf, object, optional } from '../../src/lib/schema.ts'
import type { Section } from '../../src/plugin.ts'
import { assertUsable } from './assert-usable.ts'
import { telemetryRequest } from './section-request.ts'
import { telemetryMembers } from './telemetry-members.ts'

const members = { telemetry_config: optional(nullable(object(telemetryMembers))) }

declare module '../../src/contracts/run-config.ts' {
  interface RunConfig extends ObjectOf<typeof members> {}
}

export type TelemetryConfig = NonNullable<RunConfig['telemetry_config']>

/** What the run config says of telemetry; undefined where nothing is sent or served. */
export function telemetryOf({ telemetry_config: said }: RunConfig): TelemetryConfig | undefined {
  const asks = said && (said.endpoint || said.enablePrometheusMetricsPath)
  return asks && !isEmpty(said) ? said : undefined
}

/** Checks the members that say what is sent, and where. */
export const telemetrySection: Section = {
  members,
  request: telemetryRequest,
  middlewareEntries: [
    {
      type: 'telemetry',
      parameter: 'config',
      member: 'telemetry_config',
      repeats: { server_name: 'name', transport: 'transport' },
    },
  ],
  check(config) {
    if (config.telemetry_config) assertUsable(config.telemetry_config)
  },
}
