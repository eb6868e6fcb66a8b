import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  issuer_unreachable: {
    status: 504,
    text: (d: { issuer: string; problem: string }) =>
      `The identity provider ${d.issuer} cannot be asked: ${d.problem}.`,
    hint: 'Try again later; nothing was changed.',
  },
  issuer_invalid: {
    status: 502,
    text: (d: { issuer: string; problem: string }) =>
      `${d.issuer} does not behave like an identity provider: ${d.problem}.`,
    hint: 'Check the address given with --issuer.',
  },
  login_issuer_needed: {
    status: 400,
    exit: 2,
    text: (d: { place: string }) => `${d.place} does not say where to log in.`,
    hint: 'Ask its operator, and give --issuer URL and --client-id ID.',
  },
  login_client_needed: {
    status: 400,
    exit: 2,
    text: (d: { issuer: string; problem: string }) =>
      `${d.issuer} does not register clients automatically: ${d.problem}.`,
    hint: 'Have its operator register keelson as a public client, and give --client-id ID.',
  },
  login_port_taken: {
    status: 409,
    text: (d: { port: number; problem: string }) =>
      `The browser cannot come back to port ${d.port}: ${d.problem}.`,
    hint: 'Let another login finish first, or give --callback-port PORT if the client may come back to any port.',
  },
  login_denied: {
    status: 403,
    text: (d: { issuer: string; problem: string }) => `The login at ${d.issuer} was refused: ${d.problem}.`,
    hint: 'Log in again and agree, or ask its operator for access.',
  },
  login_failed: {
    status: 502,
    text: (d: { issuer: string; problem: string }) => `The login at ${d.issuer} failed: ${d.problem}.`,
    hint: 'Nothing was stored. Log in again.',
  },
  login_timeout: {
    status: 504,
    text: (d: { issuer: string; seconds: number }) =>
      `The login was not finished at ${d.issuer} within ${d.seconds} seconds.`,
    hint: 'Log in again; with --skip-browser open the address that is shown on this machine.',
  },
  login_over: {
    status: 503,
    text: (d: { place: string; problem: string }) => `The login to ${d.place} is over: ${d.problem}.`,
    hint: 'Log in again.',
  },
})
