import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  webhook_invalid: {
    status: 400,
    exit: 2,
    text: (d: { name: string; problem: string }) => `The webhook "${d.name}" cannot be used: ${d.problem}.`,
  },
  webhook_file_invalid: {
    status: 400,
    exit: 2,
    text: (d: { path: string; problem: string }) => `${d.path} does not describe webhooks: ${d.problem}.`,
    hint: 'Write lists of webhooks under "validating" and "mutating", each with name, url and failure_policy.',
  },
  webhook_secret_missing: {
    status: 409,
    text: (d: { name: string; problem: string }) =>
      `The webhook "${d.name}" has no secret to sign with: ${d.problem}.`,
    hint: 'hmac_secret_ref is the absolute path of a file, or the name of a secret: `keelson secret set NAME`.',
  },
  webhook_unconfirmed: {
    status: 400,
    exit: 2,
    text: (d: { name: string; url: string }) =>
      `The file of --from-config wants all messages of clients to be sent to ${d.url} (the webhook "${d.name}").`,
    hint: 'If that webhook is yours, give a file that describes it with --webhook-config as well.',
  },
  webhook_over_http: {
    status: 400,
    text: (d: { name: string; url: string }) =>
      `A request over HTTP cannot name or change the webhook "${d.name}" (${d.url}): it would be sent all messages of clients.`,
    hint: 'Run the workload with `keelson run` and --webhook-config.',
  },
})
