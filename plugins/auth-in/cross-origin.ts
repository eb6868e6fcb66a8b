import type { Exchange } from '../../src/contracts/pipeline.ts'

/** Headers that pages may send (Fetch standard, CORS protocol). */
const REQUEST_HEADERS =
  'mcp-protocol-version, mcp-session-id, last-event-id, mcp-method, mcp-name, Content-Type, Authorization'
/** Headers of responses that pages may read: where to log in, and which session they have. */
const RESPONSE_HEADERS = 'WWW-Authenticate, Mcp-Session-Id, Mcp-Protocol-Version, Retry-After'
const DAY_SECONDS = '86400'

/** Lets the page that asks read the response. The guard has refused pages of other origins before. */
export function corsHeaders({ request }: Exchange): Record<string, string> {
  const { origin } = request.headers
  if (origin === undefined) return { 'access-control-allow-origin': '*' }
  return { 'access-control-allow-origin': origin, vary: 'Origin' }
}

/** The same for whatever response follows; a server that allows pages itself has the last word. */
export function exposeToPage(exchange: Exchange): void {
  if (exchange.request.headers.origin === undefined) return
  const headers = { ...corsHeaders(exchange), 'access-control-expose-headers': RESPONSE_HEADERS }
  for (const [name, value] of Object.entries(headers)) exchange.response.setHeader(name, value)
}

/** Whether a browser asks if a page may send its request. */
export const isPreflight = ({ request: { method, headers } }: Exchange): boolean =>
  method === 'OPTIONS' &&
  headers.origin !== undefined &&
  headers['access-control-request-method'] !== undefined

export function sendPreflight(exchange: Exchange, methods: string): void {
  const { request, response } = exchange
  response.writeHead(204, {
    ...corsHeaders(exchange),
    'access-control-allow-methods': methods,
    'access-control-allow-headers': REQUEST_HEADERS,
    'access-control-max-age': DAY_SECONDS,
  })
  response.end()
  if (!request.readableEnded) request.on('error', () => {}).resume()
}
