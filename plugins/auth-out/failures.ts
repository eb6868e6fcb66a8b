import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  remote_login_place_unknown: {
    status: 502,
    text: (d: { target: string; problem: string }) =>
      `${d.target} demands a login and does not say where: ${d.problem}.`,
    hint: 'Name the identity provider with --remote-auth-issuer, or give a token with --remote-auth-bearer-token-file.',
  },
  remote_resource_mismatch: {
    status: 502,
    text: (d: { target: string; resource: string }) =>
      `${d.target} presents itself as another resource (${d.resource}), so its tokens could be meant for another server.`,
    hint: 'Check the URL. If it is right, name the resource with --remote-auth-resource.',
  },
  remote_server_unreachable: {
    status: 504,
    text: (d: { server: string; problem: string }) => `${d.server} cannot be reached: ${d.problem}.`,
    hint: 'Try again later; nothing was changed.',
  },
  remote_issuer_unreachable: {
    status: 504,
    text: (d: { issuer: string; problem: string }) =>
      `The identity provider ${d.issuer} cannot be reached: ${d.problem}.`,
    hint: 'Try again later; nothing was changed.',
  },
  remote_issuer_invalid: {
    status: 502,
    text: (d: { issuer: string; problem: string }) =>
      `${d.issuer} cannot be used as an identity provider: ${d.problem}.`,
    hint: 'Check --remote-auth-issuer, or ask the operator of the server.',
  },
  pkce_not_optional: {
    status: 400,
    exit: 2,
    text: () => 'oauth_config.use_pkce cannot be false: PKCE protects every login (RFC 7636).',
    hint: 'Leave it out.',
  },
  remote_pkce_missing: {
    status: 502,
    text: (d: { issuer: string }) =>
      `${d.issuer} does not say that it supports PKCE with S256, which protects the login (RFC 7636).`,
    hint: 'If you trust it all the same, give --remote-auth-authorize-url and --remote-auth-token-url.',
  },
  remote_client_needed: {
    status: 400,
    exit: 2,
    text: (d: { issuer: string; problem: string }) => `${d.issuer} gives out no client ID: ${d.problem}.`,
    hint: 'Register keelson there, and give --remote-auth-client-id and, if there is one, --remote-auth-client-secret-file.',
  },
  remote_client_expired: {
    status: 502,
    text: (d: { issuer: string; problem: string }) =>
      `The client that ${d.issuer} registered has expired and was not renewed: ${d.problem}.`,
    hint: 'Log in again.',
  },
  remote_key_invalid: {
    status: 400,
    exit: 2,
    text: (d: { problem: string }) => `The private key for the login cannot be used: ${d.problem}.`,
    hint: 'Give a private key in PEM (PKCS #8) or as a JSON Web Key.',
  },
  remote_login_port_taken: {
    status: 409,
    text: (d: { port: number; problem: string }) =>
      `The browser cannot come back to port ${d.port}: ${d.problem}.`,
    hint: 'Let another login finish first, or give --remote-auth-callback-port.',
  },
  remote_login_denied: {
    status: 403,
    text: (d: { issuer: string; problem: string }) => `The login at ${d.issuer} was refused: ${d.problem}.`,
    hint: 'Log in again and agree, or ask its operator for access.',
  },
  remote_login_failed: {
    status: 502,
    text: (d: { issuer: string; problem: string }) => `The login at ${d.issuer} failed: ${d.problem}.`,
    hint: 'Nothing was stored. Log in again.',
  },
  remote_login_timeout: {
    status: 504,
    text: (d: { issuer: string; seconds: number }) =>
      `Nobody finished the login at ${d.issuer} within ${d.seconds} seconds.`,
    hint: 'Log in again; --remote-auth-timeout gives more time.',
  },
  header_refused: {
    status: 400,
    exit: 2,
    text: (d: { name: string; problem: string }) =>
      `The header ${JSON.stringify(d.name)} cannot be added to requests: ${d.problem}.`,
  },
  header_secret_wrong: {
    status: 400,
    text: (d: { name: string; secret: string }) =>
      `The secret "${d.secret}" cannot be the value of the header ${d.name}: it is empty, too long, or has line breaks or other control characters.`,
    hint: d => `Store it again with \`keelson secret set ${d.secret}\`.`,
  },
  bearer_token_wrong: {
    status: 400,
    text: (d: { where: string }) => `${d.where} holds no bearer token: one line of visible characters.`,
    hint: 'A token is the text after `Authorization: Bearer`, without these words.',
  },
  credential_of_other_server: {
    status: 400,
    text: (d: { secret: string; server: string }) =>
      `The stored secret "${d.secret}" was given for another server than ${d.server}, and is not sent there.`,
    hint: 'Give it again with the flags of `run`, or store it under a name of your own with `keelson secret set` and name that.',
  },
  client_of_other_issuer: {
    status: 409,
    text: (d: { server: string; bound: string; issuer: string }) =>
      `${d.server} now wants a login at ${d.issuer}. The client that you gave belongs to ${d.bound}, and its secret is not sent elsewhere.`,
    hint: 'If the server has really moved, run it again with --remote-auth-issuer.',
  },
  credential_file_unconfirmed: {
    status: 400,
    exit: 2,
    text: (d: { path: string; server: string; flag: string }) =>
      `The content of ${d.path} would go to ${d.server}, as the file of --from-config wants.`,
    hint: d => `If that server may have it, give --${d.flag} ${d.path} as well.`,
  },
  resource_unconfirmed: {
    status: 400,
    exit: 2,
    text: (d: { resource: string; server: string }) =>
      `${d.server} would get tokens for ${d.resource}, as the file of --from-config wants.`,
    hint: d => `If that server may have them, give --remote-auth-resource ${d.resource} as well.`,
  },
  credential_missing: {
    status: 400,
    text: (d: { secret: string }) => `There is no secret "${d.secret}", which logs in to the remote server.`,
    hint: 'Remove the workload and run it again with its credentials.',
  },
  remote_scopes_missing: {
    status: 403,
    text: (d: { workload: string; scopes: readonly string[] }) =>
      `The login to the remote server of "${d.workload}" lacks rights for this request${d.scopes.length ? `: ${d.scopes.join(' ')}` : ''}.`,
    hint: d => `Log in with them: \`keelson auth login ${d.workload}\`.`,
  },
  login_missing: {
    status: 404,
    text: (d: { name: string }) => `There is no login to the remote server of "${d.name}".`,
    hint: d => `Log in with \`keelson auth login ${d.name}\`.`,
  },
  client_metadata_unset: {
    status: 400,
    exit: 2,
    text: () => 'It is not known where the client metadata document will be hosted.',
    hint: 'Name the URL: `keelson config set-client-metadata-url https://…`.',
  },
  login_not_needed: {
    status: 400,
    text: (d: { name: string }) => `The remote server of "${d.name}" does not ask for a login now.`,
  },
  login_by_token: {
    status: 400,
    text: (d: { name: string }) =>
      `"${d.name}" has a bearer token for its remote server, so it needs no login.`,
    hint: 'Give it another token, or run it again without one.',
  },
  login_by_machine: {
    status: 400,
    text: (d: { name: string }) =>
      `"${d.name}" logs in with the credentials of its client, so no person can log in.`,
    hint: 'If the login fails, check whether the secret or the private key is still valid.',
  },
  login_busy: {
    status: 409,
    text: (d: { issuer: string }) => `Somebody is logging in at ${d.issuer} in another program.`,
    hint: 'Finish that login, or end it, and try again.',
  },
  not_remote: {
    status: 400,
    exit: 2,
    text: (d: { name: string }) => `"${d.name}" is not a remote server, so there is nothing to log in to.`,
  },
  credential_not_storable: {
    status: 400,
    text: (d: { what: string; problem: string }) => `${d.what} cannot be kept: ${d.problem}`,
    hint: 'Choose a place for secrets with `keelson secret setup`, or name a file or a secret instead: --remote-auth-bearer-token-file, --remote-forward-headers-secret.',
  },
  logins_moved: {
    status: 503,
    text: () => "The login could not be kept: keelson's background process is being replaced.",
    hint: 'Log in again.',
  },
})
