/** What a client of one era reaches a server of the other over. */
export type CrossCell =
  | 'older → stdio'
  | 'older → streamable HTTP'
  | 'newer → stdio'
  | 'newer → streamable HTTP'
  | 'newer → HTTP+SSE'

/** How a check ends; of several with one name, the worst counts. `MISSING`: the scenario has not come that far. */
export type Status = 'FAILURE' | 'WARNING' | 'SKIPPED' | 'SUCCESS' | 'MISSING'

interface Difference {
  /** Why the check does not end as it does at a server of the client's own era. */
  readonly because: string
  readonly cells: readonly CrossCell[]
  /** By scenario and check. */
  readonly checks: Readonly<Record<string, Status>>
}

const NEWER: readonly CrossCell[] = ['newer → stdio', 'newer → streamable HTTP', 'newer → HTTP+SSE']

/** All that the official suites find in a cross cell and not directly, or directly and not in a cross cell. */
export const DIFFERENCES: readonly Difference[] = [
  {
    because:
      'The bridge responds with JSON where no other message comes first; the suite wants event streams here.',
    cells: ['older → stdio', 'older → streamable HTTP'],
    checks: {
      'server-sse-polling server-sse-content-type': 'SUCCESS',
      'server-sse-polling server-sse-disconnect-resume': 'MISSING',
      'server-sse-polling server-sse-priming-event': 'MISSING',
      'server-sse-polling server-sse-retry-field': 'MISSING',
      'server-sse-polling stream-closed': 'MISSING',
    },
  },
  {
    because: 'A server with sessions has no tools whose arguments are repeated in headers (x-mcp-header).',
    cells: NEWER,
    checks: {
      'http-custom-header-server-validation sep-2243-server-decode-base64': 'FAILURE',
      'http-custom-header-server-validation sep-2243-server-no-xmcp-tool': 'FAILURE',
      'http-custom-header-server-validation sep-2243-server-reject-invalid-param-chars': 'FAILURE',
      'http-custom-header-server-validation sep-2243-server-reject-param-mismatch': 'FAILURE',
      'http-custom-header-server-validation sep-2243-server-validate-param-match': 'FAILURE',
    },
  },
  {
    because:
      'A request of a server with sessions has no key, so the proxy makes one; the suite wants the key "user_name".',
    cells: NEWER,
    checks: {
      'input-required-result-basic-elicitation sep-2322-elicitation-incomplete': 'FAILURE',
      'input-required-result-basic-elicitation sep-2322-elicitation-complete': 'MISSING',
    },
  },
  {
    because: 'Input that comes without requestState belongs to no call that waits at the server: -32602.',
    cells: NEWER,
    checks: {
      'input-required-result-ignore-extra-params sep-2322-ignore-unexpected-params': 'WARNING',
      'input-required-result-missing-input-response sep-2322-missing-response-rerequests': 'WARNING',
    },
  },
  {
    because:
      'A server with sessions has no error that says which capability of the client it misses (-32021).',
    cells: NEWER,
    checks: {
      'server-stateless sep-2575-missing-capability-http-400': 'FAILURE',
      'server-stateless sep-2575-server-rejects-undeclared-capability': 'FAILURE',
    },
  },
  {
    because:
      'The suite has left calls of another client open, and over stdio the server does not say for which call it asks.',
    cells: ['newer → stdio'],
    checks: { 'input-required-result-capability-check sep-2322-respect-client-capabilities': 'FAILURE' },
  },
  {
    because:
      'The suite has left calls open, and the server does not say which one its second request belongs to.',
    cells: ['newer → HTTP+SSE'],
    checks: {
      'input-required-result-multiple-input-requests sep-2322-multiple-inputs-incomplete': 'FAILURE',
      'input-required-result-multiple-input-requests sep-2322-multiple-inputs-complete': 'MISSING',
    },
  },
  {
    because:
      'A header with a version that nobody knows does not show the era; the server refuses it in its own words.',
    cells: ['newer → streamable HTTP'],
    checks: {
      'server-stateless sep-2575-server-unsupported-version-error': 'FAILURE',
      'server-stateless sep-2575-http-server-error-jsonrpc-id': 'FAILURE',
    },
  },
  {
    because: 'The same: a POST at the URL of the event stream is not known there (405).',
    cells: ['newer → HTTP+SSE'],
    checks: {
      'server-stateless sep-2575-server-unsupported-version-error': 'FAILURE',
      'server-stateless sep-2575-http-server-unsupported-version-400': 'FAILURE',
    },
  },
]
