import { type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import type { TelemetrySettings } from './settings.ts'

/** Instrumentation scope of all that is sent. */
export const SCOPE = 'keelson'

/** What all traces, metrics and logs of a workload say of where they are from. */
export const resourceOf = ({ attributes, serviceName, serviceVersion }: TelemetrySettings): Resource =>
  resourceFromAttributes({
    ...attributes,
    'service.name': serviceName,
    'service.version': serviceVersion,
    'telemetry.sdk.language': 'nodejs',
    'telemetry.sdk.name': 'opentelemetry',
  })
