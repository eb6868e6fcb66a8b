import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  port_busy: {
    status: 409,
    text: (d: { host: string; port: number }) => `Port ${d.port} on ${d.host} is already in use.`,
    hint: 'Choose another with --proxy-port, or leave the flag out to get a free one.',
  },
  port_refused: {
    status: 400,
    text: (d: { host: string; port: number }) => `Listening on port ${d.port} of ${d.host} is not permitted.`,
    hint: 'Choose a --proxy-port of 1024 or above.',
  },
  host_unusable: {
    status: 400,
    text: (d: { host: string; problem: string }) => `Cannot listen on ${d.host}: ${d.problem}.`,
    hint: 'Give --host an IPv4 address of this machine, or a name that has one.',
  },
  backend_not_ready: {
    status: 504,
    text: (d: { name: string; seconds: number; problem: string }) =>
      `${d.name} did not respond as an MCP server within ${d.seconds} seconds: ${d.problem}.`,
    hint: d => `\`keelson logs ${d.name}\` shows what the server printed.`,
  },
  middleware_misplaced: {
    status: 422,
    text: (d: { name: string; plugin: string; problem: string }) =>
      `The middleware "${d.name}" of the plugin "${d.plugin}" cannot be used: ${d.problem}.`,
    hint: d =>
      `\`keelson plugin remove ${d.plugin}\` takes the plugin away; its author can choose another stage.`,
  },
  candidate_failed: {
    status: 422,
    text: (d: { name: string; problem: string }) => `The new server of "${d.name}" ${d.problem}.`,
  },
})
