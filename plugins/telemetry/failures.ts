import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  telemetry_invalid: {
    status: 400,
    exit: 2,
    text: (d: { problem: string; hint?: string | undefined }) =>
      `The settings for telemetry are wrong: ${d.problem}.`,
    hint: d => d.hint ?? 'Correct the --otel-… flags (telemetry_config).',
  },
  telemetry_unconfirmed: {
    status: 400,
    exit: 2,
    text: (d: { what: string; flag: string }) =>
      `The file of --from-config wants telemetry: ${d.what}. The requests to the workload could be read there.`,
    hint: d => `If that is what you want, give ${d.flag} as well.`,
  },
  telemetry_over_http: {
    status: 400,
    text: (d: { member: string }) => `A request over HTTP cannot set telemetry_config.${d.member}.`,
    hint: 'Run the workload with `keelson run`, which has flags for it.',
  },
  telemetry_header_missing: {
    status: 409,
    text: (d: { secret: string }) => `The header for telemetry that is kept as ${d.secret} is missing.`,
    hint: 'Run the workload again with --otel-headers.',
  },
  telemetry_header_not_storable: {
    status: 409,
    text: (d: { problem: string }) => `The header for telemetry cannot be kept: ${d.problem}`,
    hint: 'Set up a place for secrets with `keelson secret setup`.',
  },
})
