import { defineFailures } from '../../../src/errors.ts'

export const failures = defineFailures({
  upstream_config_invalid: {
    status: 400,
    exit: 2,
    text: (d: { name: string; problem: string }) =>
      `People cannot log in at the upstream provider "${d.name}": ${d.problem}.`,
    hint: 'Correct the --auth-server-… flags, or "upstreams" in embedded_auth_server_config.',
  },
  upstream_unavailable: {
    status: 503,
    text: (d: { name: string; problem: string }) =>
      `The upstream provider "${d.name}" cannot be used now: ${d.problem}.`,
    hint: 'Try again later.',
  },
  upstream_login_failed: {
    status: 403,
    text: (d: { name: string; problem: string }) =>
      `The login at the upstream provider "${d.name}" did not succeed: ${d.problem}.`,
    hint: 'Log in again.',
  },
})
