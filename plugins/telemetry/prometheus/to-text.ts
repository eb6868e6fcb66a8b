import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { emptyResource } from '@opentelemetry/resources'
import type { ScopeMetrics } from '@opentelemetry/sdk-metrics'

export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Writes metrics in the text format of Prometheus. Labels tell workloads apart, so resources are left out. */
export const toPrometheusText = (scopes: readonly ScopeMetrics[]): string =>
  new PrometheusSerializer(undefined, false, undefined, true, true).serialize({
    resource: emptyResource(),
    scopeMetrics: scopes.map(({ scope, metrics }) => ({ scope, metrics: metrics.map(withUnit) })),
  })

/** The name of a metric ends in its unit (OpenTelemetry, "Prometheus and OpenMetrics Compatibility"). */
function withUnit<M extends ScopeMetrics['metrics'][number]>(metric: M): M {
  const { descriptor } = metric
  if (descriptor.unit !== 's') return metric
  return { ...metric, descriptor: { ...descriptor, name: `${descriptor.name}_seconds` } }
}
