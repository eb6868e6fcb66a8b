import { defineFailures } from '../../src/errors.ts'

/** A usage, or a flag of the server's own. */
const WANTS_ARGUMENTS = /\b(?:argument|usage)\b|\s--[a-z]/i

/** Failures of hosting workloads, and of reaching the supervisor. */
export const failures = defineFailures({
  supervisor_unreachable: {
    status: 503,
    text: (d: { problem: string; log: string }) => `The supervisor does not respond: ${d.problem}`,
    hint: d => `Its log is ${d.log}.`,
  },
  supervisor_runs: {
    status: 409,
    text: (d: { pid: number }) => `A supervisor is already running (process ${d.pid}).`,
  },
  supervisor_leaving: {
    status: 503,
    text: () => 'The supervisor is handing its workloads over to a new supervisor.',
    hint: 'Try again in a moment.',
  },
  supervisor_internal: {
    status: 500,
    text: (d: { problem: string }) => `The supervisor failed unexpectedly: ${d.problem}`,
    hint: 'Its log, supervisor.log in the data folder, has the details.',
  },
  hosted_elsewhere: {
    status: 409,
    text: (d: { name: string; pid: number }) => `The workload "${d.name}" is hosted by process ${d.pid}.`,
    hint: d => `End that process, or run \`keelson stop ${d.name}\`.`,
  },
  host_stays: {
    status: 504,
    text: (d: { name: string; pid: number; seconds: number }) =>
      `Process ${d.pid}, which hosts "${d.name}", was asked to end and still runs after ${d.seconds} seconds.`,
    hint: 'End that process, then try again.',
  },
  start_cancelled: {
    status: 409,
    text: (d: { name: string }) => `The workload "${d.name}" was stopped while it started.`,
  },
  workload_failed: {
    status: 502,
    text: (d: { name: string; reason: string }) => `The workload "${d.name}" has failed: ${d.reason}`,
  },
  instance_ended: {
    status: 502,
    text: (d: {
      name: string
      how: string
      lines: readonly string[]
      missing: readonly string[]
      /** It should have listened on a port but ended without output, as a stdio server does when its input ends. */
      mayBeStdio: boolean
    }) => `The server of "${d.name}" ended before it was ready (${d.how}).${lastLines(d.lines)}`,
    hint: d =>
      d.missing.length
        ? `It names ${d.missing.join(' and ')}. Give a value to \`keelson run\` with \`-e ${d.missing[0]}=VALUE\`, ` +
          `or a stored secret with \`--secret NAME,target=${d.missing[0]}\`.`
        : d.mayBeStdio
          ? 'A server that speaks over standard input and output is run with `--transport stdio`.'
          : d.lines.some((line: string) => WANTS_ARGUMENTS.test(line))
            ? 'Arguments of the server go after `--`: `keelson run … -- ARGUMENT`.'
            : undefined,
  },
  candidate_rejected: {
    status: 422,
    text: (d: { problem: string; lines: readonly string[] }) => `${d.problem}${lastLines(d.lines)}`,
  },
  supervisor_older: {
    status: 501,
    text: (d: { asked: string }) => `The running supervisor does not know the request "${d.asked}".`,
    hint: 'It is another version of keelson; the next command replaces it. Try again.',
  },
  upgrade_runs: {
    status: 409,
    text: (d: { name: string }) => `An upgrade of "${d.name}" is already running.`,
    hint: 'Wait until it has finished.',
  },
  upgrade_lost: {
    status: 409,
    text: (d: { name: string }) => `The upgrade of "${d.name}" was cancelled.`,
    hint: 'Run `keelson upgrade check`, then try again.',
  },
  instance_port_unknown: {
    status: 502,
    text: (d: { name: string; port: number }) =>
      `The runtime does not report the address of port ${d.port} of "${d.name}".`,
    hint: 'Give the port the server listens on with --target-port.',
  },
  instance_field_wrong: {
    status: 400,
    text: (d: { field: string; value: string; wanted: string }) =>
      `${d.field} "${d.value}" in the run config is not ${d.wanted}.`,
  },
})

const lastLines = (lines: readonly string[]): string =>
  lines.length ? ` Its last lines:\n${lines.map(line => `  ${line}`).join('\n')}` : ' It wrote nothing.'
