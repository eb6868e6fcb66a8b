import { defineFailures } from '../errors.ts'

/** Failures of the HTTP host itself. */
export const httpFailures = defineFailures({
  body_invalid: {
    status: 400,
    text: (d: { problem: string }) => `The request body is not valid: ${d.problem}.`,
  },
  parameter_invalid: {
    status: 400,
    text: (d: { name: string; problem: string }) => `The parameter ${d.name} is not valid: ${d.problem}.`,
  },
  request_invalid: {
    status: 400,
    text: (d: { problem: string }) => `The request cannot be read: ${d.problem}.`,
  },
  request_unsupported: {
    status: 400,
    text: (d: { member: string }) => `${d.member} is not supported here yet.`,
    hint: 'Leave it out, or empty.',
  },
  file_unconfirmed: {
    status: 400,
    text: (d: { path: string; receiver: string }) =>
      `No request over HTTP may have the content of ${d.path} sent to ${d.receiver}.`,
    hint: 'Run the workload from a file: `keelson run --from-config FILE`.',
  },
  host_refused: {
    status: 403,
    text: (d: { host: string }) => `Requests for the host "${d.host}" are refused.`,
    hint: 'Use the address that `keelson serve` printed.',
  },
  origin_refused: {
    status: 403,
    text: () => 'Pages of other origins may not call this API.',
  },
  client_header_missing: {
    status: 403,
    text: (d: { path: string; header: string }) =>
      `GET ${d.path} fetches what its query names, so it requires the header ${d.header} (with any value), ` +
      'which pages of other sites cannot send. POST does not require it.',
  },
  site_refused: {
    status: 403,
    text: () => 'Other sites may link to the page at / and to nothing else.',
  },
  caller_refused: {
    status: 403,
    text: () => 'Only the user who runs this server may call it; this connection belongs to another user.',
    hint: 'To allow others, require a token: see `keelson config set-caller-token`.',
  },
  caller_token_missing: {
    status: 401,
    text: () => 'The caller token is missing or wrong. Send it in the header Keelson-Caller-Token.',
    hint: '`keelson config get-caller-token` shows where the token is.',
  },
  too_many_requests: {
    status: 429,
    text: () => 'Too many requests at a time.',
    hint: 'Send fewer, or wait a moment.',
  },
  rate_exceeded: {
    status: 429,
    text: (d: { perSecond: number }) => `More than ${d.perSecond} requests a second are refused.`,
    hint: 'Send fewer, or start the server with a higher --rate-limit.',
  },
  deadline_passed: {
    status: 504,
    text: (d: { seconds: number }) => `It took longer than ${d.seconds} seconds and was cancelled.`,
  },
})
