import { bool, described, nullable, optional, port, text, textMap, texts } from '../../src/lib/schema.ts'

const toggle = optional(nullable(bool))

/** The members of `telemetry_config`. What is null is not set. */
export const telemetryMembers = {
  endpoint: optional(
    described(nullable(text), 'Host and port of an OTLP collector (HTTP), and a path before /v1/traces'),
  ),
  serviceName: optional(nullable(text)),
  serviceVersion: optional(nullable(text)),
  tracingEnabled: toggle,
  metricsEnabled: toggle,
  /** A number from 0 to 1, as text. */
  samplingRate: optional(nullable(text)),
  /** Sent with each export. Their values are kept by the secrets provider. */
  headers: optional(nullable(textMap)),
  insecure: toggle,
  /** PEM file of certificates that are trusted besides those of the system. */
  caCertPath: optional(nullable(text)),
  enablePrometheusMetricsPath: toggle,
  prometheusPort: optional(
    described(nullable(port), 'Port of this machine that serves /metrics; 9464 without it'),
  ),
  metricsOnTransportPort: optional(
    described(toggle, 'Whether the proxy serves /metrics, too; true without it'),
  ),
  /** Names of variables that spans hold. */
  environmentVariables: optional(nullable(texts)),
  customAttributes: optional(nullable(textMap)),
  /** Spans hold attributes under older names, too; true without it. */
  useLegacyAttributes: toggle,
}
