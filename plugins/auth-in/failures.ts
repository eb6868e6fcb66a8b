import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  auth_config_invalid: {
    status: 400,
    exit: 2,
    text: (d: { problem: string; hint?: string | undefined }) =>
      `The settings for the login of callers are wrong: ${d.problem}.`,
    hint: d => d.hint ?? 'Correct the --oidc-… flags (oidc_config).',
  },
  oidc_secret_missing: {
    status: 409,
    text: (d: { secret: string }) =>
      `The client secret ${d.secret} is not kept for this workload and this provider.`,
    hint: 'Give it again with --oidc-client-secret-file.',
  },
  oidc_secret_not_storable: {
    status: 409,
    text: (d: { problem: string }) => `The client secret cannot be stored: ${d.problem}`,
    hint: 'Put it into a file that only you can read, and name it with --oidc-client-secret-file.',
  },
  oidc_file_unconfirmed: {
    status: 400,
    exit: 2,
    text: (d: { path: string; flag: string }) =>
      `The run config sends the content of the file ${d.path} to an identity provider.`,
    hint: d => `If that is what you want, say so with --${d.flag} ${d.path}.`,
  },
  oidc_private_unconfirmed: {
    status: 400,
    exit: 2,
    text: () =>
      'The run config has an identity provider in your network, or on this machine (allowPrivateIP).',
    hint: 'If that is what you want, say so with --jwks-allow-private-ip.',
  },
  token_missing: {
    status: 401,
    text: (d: { problem: string }) => d.problem,
  },
  token_invalid: {
    status: 401,
    text: (d: { problem: string }) => `The token is not valid: ${d.problem}.`,
  },
  scope_missing: {
    status: 403,
    text: (d: { scopes: readonly string[] }) =>
      `The token is valid but lacks ${d.scopes.length > 1 ? 'the scopes' : 'the scope'} ${d.scopes.join(', ')}.`,
  },
  caller_not_allowed: {
    status: 403,
    text: (d: { problem: string }) => `The token is valid but not allowed here: ${d.problem}.`,
  },
  auth_unavailable: {
    status: 503,
    text: (d: { problem: string }) => `Tokens cannot be checked now: ${d.problem}.`,
  },
})
