import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  exchange_secret_missing: {
    status: 409,
    text: (d: { secret: string }) =>
      `The client secret ${d.secret} of the token exchange is not kept for this workload and this endpoint.`,
    hint: 'Give it again with --token-exchange-client-secret-file.',
  },
  exchange_secret_not_storable: {
    status: 409,
    text: (d: { problem: string }) =>
      `The client secret of the token exchange cannot be stored: ${d.problem}`,
    hint: 'Put it into a file that only you can read, and name it with --token-exchange-client-secret-file.',
  },
  exchange_file_empty: {
    status: 400,
    exit: 2,
    text: (d: { path: string }) =>
      `The file ${d.path} with the client secret of the token exchange is empty.`,
  },
  exchange_without_token: {
    status: 400,
    exit: 2,
    text: (d: { name: string }) =>
      `The token exchange of "${d.name}" has no token to exchange: its callers do not log in.`,
    hint: 'Make callers log in with --oidc-issuer and --oidc-audience, or log in to the remote server with --remote-auth-….',
  },
  exchange_broken: {
    status: 502,
    text: () =>
      'Tokens cannot be exchanged for the server: the token endpoint, or a setting for it, is wrong.',
    hint: 'The log of the proxy says what is wrong: `keelson logs NAME --proxy`.',
  },
  exchange_unconfirmed: {
    status: 400,
    exit: 2,
    text: (d: { what: string; flag: string; value: string }) =>
      `The file of --from-config wants ${d.what} to be sent to a token endpoint that it names.`,
    hint: d => `If that endpoint may have them, give --${d.flag} ${d.value} as well.`,
  },
})
