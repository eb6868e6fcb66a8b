import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  authz_config_invalid: {
    status: 400,
    exit: 2,
    text: (d: { where: string; problem: string }) =>
      `${d.where} does not say what callers may do: ${d.problem}.`,
  },
  authz_file_unconfirmed: {
    status: 400,
    exit: 2,
    text: (d: { path: string }) =>
      `The run config takes its authorization from the file ${d.path} (authz_config_path).`,
    hint: 'Give a file with --authz-config, which replaces the one in the run config.',
  },
  authz_pdp_unconfirmed: {
    status: 400,
    exit: 2,
    text: (d: { url: string }) =>
      `The run config sends who calls, and what for, to the decision point ${d.url} (authz_config).`,
    hint: 'Write the configuration into a file of your own and give it with --authz-config.',
  },
  authz_pdp_over_http: {
    status: 400,
    text: (d: { url: string }) =>
      `A request over HTTP cannot name the decision point ${d.url}: it would be told of every call.`,
    hint: 'Write the configuration into a file on this machine, and name that in authz_config.',
  },
  authz_message_unreadable: {
    status: 400,
    text: () => 'The body is not one JSON-RPC message in UTF-8, so nobody can tell what it asks for.',
  },
})
