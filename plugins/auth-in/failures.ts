import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  auth_config_invalid: {
    status: 400,
    exit: 2,
    text: (d: { problem: string; hint?: string | undefined }) =>
      `Callers cannot log in like that: ${d.problem}.`,
    hint: d => d.hint,
  },
  token_missing: {
    status: 401,
    text: (d: { problem: string }) => d.problem,
  },
  token_invalid: {
    status: 401,
    text: (d: { problem: string }) => `The token is not valid: ${d.problem}.`,
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
