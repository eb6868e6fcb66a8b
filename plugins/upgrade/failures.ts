import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  upgrade_failed: {
    status: 422,
    text: (d: { name: string; from: string; to: string; serves: boolean; reason: string; hint?: string }) =>
      `"${d.name}" was not upgraded to ${d.to}; ${d.serves ? `${d.from} serves as before` : `it stays at ${d.from}`}. ${d.reason}`,
    hint: d => d.hint,
  },
  upgrade_busy: {
    status: 409,
    text: (d: { name: string }) => `"${d.name}" is being upgraded already.`,
    hint: 'Wait until that has ended.',
  },
  upgrade_needs_stop: {
    status: 409,
    text: (d: { name: string; port: string }) =>
      `"${d.name}" publishes port ${d.port} of this machine, which two versions side by side cannot both have.`,
    hint: d => `Take it down with \`keelson stop ${d.name}\`, upgrade it, and start it again.`,
  },
  upgrade_moved: {
    status: 409,
    text: (d: { name: string; shown: string; found: string }) =>
      `The registry has changed: it now names ${d.found} for "${d.name}", not ${d.shown}.`,
    hint: 'Look at it with `keelson upgrade check`, then try again.',
  },
  secret_as_variable: {
    status: 400,
    exit: 2,
    text: (d: { variable: string }) =>
      `${d.variable} is a secret, and the values of variables are stored in clear.`,
    hint: d => `Store it with \`keelson secret set NAME\`, and refer to it: NAME,target=${d.variable}.`,
  },
})
