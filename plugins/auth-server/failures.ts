import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  auth_server_config_invalid: {
    status: 400,
    exit: 2,
    text: (d: { problem: string; hint?: string | undefined }) =>
      `The settings of the authorization server are wrong: ${d.problem}.`,
    hint: d => d.hint ?? 'Correct the --auth-server-… flags (embedded_auth_server_config).',
  },
  auth_server_credential_unconfirmed: {
    status: 400,
    exit: 2,
    text: (d: { source: string; receiver: string }) =>
      `The content of ${d.source} would go to ${d.receiver}, as the file of --from-config wants.`,
    hint: d => `If it may go there, give --auth-server-credential ${d.source} as well.`,
  },
  auth_server_tokens_unconfirmed: {
    status: 400,
    exit: 2,
    text: (d: { provider: string; server: string }) =>
      `${d.server} would get the tokens of those who log in at ${d.provider}, as the file of --from-config wants.`,
    hint: d =>
      `If that server may have them, give --auth-server-credential ${d.provider} as well; if not, remove upstream_swap_config.`,
  },
  auth_server_private_unconfirmed: {
    status: 400,
    exit: 2,
    text: (d: { place: string }) =>
      `The authorization server would connect to ${d.place}, in your network or on this machine, as the file of --from-config wants.`,
    hint: 'If it may, give --auth-server-allow-private-ip as well.',
  },
  auth_server_credential_over_http: {
    status: 400,
    text: (d: { source: string; receiver: string }) =>
      `No request over HTTP may have the content of ${d.source} sent to ${d.receiver}.`,
    hint: 'Run the workload from a file: `keelson run --from-config FILE`.',
  },
  upstream_unknown: {
    status: 400,
    exit: 2,
    text: (d: { provider: string; providers: readonly string[] }) =>
      `There is no upstream provider "${d.provider}"; there are: ${d.providers.join(', ') || 'none'}.`,
    hint: 'Upstream providers are those of embedded_auth_server_config.',
  },
  auth_server_caller_unknown: {
    status: 500,
    text: () => 'Nobody has checked who calls, so the request is refused.',
  },
})
