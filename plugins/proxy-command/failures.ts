import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  proxy_workload_down: {
    status: 409,
    text: (d: { name: string; status: string; reason?: string | undefined }) =>
      `The workload "${d.name}" is not running: it is ${d.status}${d.reason ? ` (${d.reason})` : ''}.`,
    hint: d => `Start it with \`keelson start ${d.name}\`; \`keelson logs ${d.name}\` may say why it is not.`,
  },
  proxy_workload_silent: {
    status: 504,
    text: (d: { name: string; url: string; seconds: number }) =>
      `The workload "${d.name}" did not come up within ${d.seconds} s: nothing listens at ${d.url}.`,
    hint: d => `\`keelson logs ${d.name} --proxy\` may say why.`,
  },
  tunnel_ended: {
    status: 502,
    text: (d: { reason: string }) => `The tunnel has ended: ${d.reason}.`,
    hint: 'Start it again; nothing else has changed.',
  },
})
