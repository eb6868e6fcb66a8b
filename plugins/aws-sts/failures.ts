import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  role_matcher_invalid: {
    status: 400,
    exit: 2,
    text: (d: { expression: string; problem: string }) =>
      `The matcher ${JSON.stringify(d.expression.slice(0, 100))} of aws_sts_config cannot be used: ${d.problem}.`,
    hint: 'It is a CEL expression over `claims`, for example "admins" in claims.groups.',
  },
  aws_without_login: {
    status: 400,
    exit: 2,
    text: (d: { name: string }) =>
      `"${d.name}" has no token for which AWS gives credentials: its callers do not log in.`,
    hint: 'Make callers log in with --oidc-issuer and --oidc-audience.',
  },
  aws_signing_failed: {
    status: 500,
    text: () => 'The request could not be signed for AWS.',
    hint: 'The log of the proxy says what is wrong: `keelson logs NAME --proxy`.',
  },
})
