import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  audit_config_invalid: {
    status: 400,
    exit: 2,
    text: (d: { problem: string; hint?: string | undefined }) =>
      `The settings of the audit log are wrong: ${d.problem}.`,
    hint: d => d.hint ?? 'Correct the file of --audit-config (audit_config).',
  },
  audit_config_unreadable: {
    status: 400,
    exit: 2,
    text: (d: { path: string; problem: string }) =>
      `The audit configuration ${d.path} cannot be used: ${d.problem}.`,
    hint: 'It is a JSON object, such as {"logFile": "/var/log/mcp/audit.jsonl", "includeRequestData": true}.',
  },
  audit_file_unconfirmed: {
    status: 400,
    exit: 2,
    text: (d: { path: string; member: string }) =>
      `The run config names the file ${d.path} for its audit log (${d.member}).`,
    hint: 'If you want an audit log, give a configuration of your own with --audit-config, which replaces the one in the run config.',
  },
  audit_syslog_unconfirmed: {
    status: 400,
    exit: 2,
    text: (d: { address: string }) =>
      `The run config sends the events of its audit log to the syslog ${d.address}.`,
    hint: 'If you want an audit log, give a configuration of your own with --audit-config, which replaces the one in the run config.',
  },
  audit_syslog_unavailable: {
    status: 409,
    text: (d: { address: string; problem: string }) =>
      `The syslog ${d.address} cannot be reached: ${d.problem}.`,
    hint: 'Events are sent by the program logger. Start the syslog, or write to a file with logFile.',
  },
  audit_otlp_unavailable: {
    status: 409,
    text: (d: { name: string }) =>
      `The audit log of "${d.name}" is to be sent as OTLP logs, but its telemetry has no endpoint.`,
    hint: 'Run the workload with --otel-endpoint, or leave out otlp of the audit configuration.',
  },
  audit_log_unwritable: {
    status: 409,
    text: (d: { path: string; problem: string }) =>
      `The audit log ${d.path} cannot be written: ${d.problem}.`,
    hint: 'Its folder has to exist, and you need the permission to write there.',
  },
  audit_log_shared: {
    status: 409,
    text: (d: { path: string; problem: string }) => `The audit log ${d.path} cannot be shared: ${d.problem}.`,
    hint: 'Give the workload a logFile of its own.',
  },
  audit_log_missing: {
    status: 404,
    text: (d: { path: string; problem: string }) => `The audit log ${d.path} cannot be read: ${d.problem}.`,
    hint: 'Without logFile, audit logs are in audit/ in the data folder, one for each workload.',
  },
})
