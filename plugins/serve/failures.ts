import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  serve_remote_refused: {
    status: 400,
    exit: 2,
    text: (d: { host: string }) =>
      `Whoever reaches ${d.host} could start programs on this machine: no login is required.`,
    hint: 'Listen on 127.0.0.1 or on --socket, or accept that with --insecure-allow-remote-without-auth.',
  },
  serve_address_busy: {
    status: 409,
    text: (d: { address: string }) => `${d.address} is in use by another program.`,
    hint: 'Choose another one with --port or --socket; --port 0 takes any free port.',
  },
  serve_address_invalid: {
    status: 400,
    text: (d: { address: string; problem: string }) => `${d.address} cannot be listened on: ${d.problem}.`,
  },
  serve_runs: {
    status: 409,
    text: (d: { url: string; pid: number }) =>
      `\`keelson serve\` runs already at ${d.url} (process ${d.pid}).`,
    // ToolHive's desktop application looks for the words in brackets.
    hint: 'End that one first (another ToolHive server is already running).',
  },
})
