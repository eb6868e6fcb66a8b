import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { type RegistryServer, registryServer } from '../../../support/registry-server.ts'

type Answer = { readonly status: number; readonly body: unknown; readonly headers?: Record<string, string> }
type Form = Readonly<Record<string, string>>

export interface OddIssuer extends Pick<RegistryServer, 'asked' | 'stop'> {
  readonly issuer: string
  /** Bodies of requests to its endpoints, with the path; JSON and forms read. */
  readonly sent: readonly { path: string; method: string; body: Form; authorization?: string | undefined }[]
  /** Where a browser ends that opens `url`: approved at once. */
  visit(url: string): Promise<Response>
}

/** An authorization server that is as odd as a test wants. It approves everybody at once. */
export async function oddIssuer(
  options: {
    /** Changes of its metadata; undefined takes a member out. */
    readonly metadata?: (issuer: string) => Record<string, unknown>
    readonly wellKnown?: string
    readonly register?: (body: Form) => Answer
    readonly token?: (body: Form) => Answer
    /** Further parameters of the redirect back, or others in their place. */
    readonly redirect?: Record<string, string>
    readonly redirectOf?: (issuer: string) => Record<string, string>
    readonly other?: (request: IncomingMessage, response: ServerResponse, url: URL) => boolean
  } = {},
): Promise<OddIssuer> {
  const server = await registryServer()
  const issuer = server.url
  const { wellKnown = '/.well-known/oauth-authorization-server' } = options
  const sent: { path: string; method: string; body: Form; authorization?: string | undefined }[] = []
  const metadata = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    ...options.metadata?.(issuer),
  }
  const endpoints: Record<string, (body: Form) => Answer> = {
    '/register': options.register ?? (() => ({ status: 201, body: { client_id: 'registered' } })),
    '/token': options.token ?? (() => ({ status: 200, body: { access_token: 'at', token_type: 'Bearer' } })),
  }

  async function handle(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    search: URLSearchParams,
  ) {
    const reply = ({ status, body, headers = {} }: Answer) =>
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(typeof body === 'string' ? body : JSON.stringify(body))
    if (path === wellKnown) return reply({ status: 200, body: metadata })
    if (path === '/authorize') {
      const back = new URL(search.get('redirect_uri') ?? '')
      const words = {
        code: 'the-code',
        state: search.get('state') ?? '',
        ...options.redirect,
        ...options.redirectOf?.(issuer),
      }
      back.search = new URLSearchParams(words).toString()
      return response.writeHead(302, { location: back.href }).end()
    }
    const endpoint = endpoints[path]
    if (!endpoint) return reply({ status: 404, body: {} })
    const raw = await text(request)
    const isJson = request.headers['content-type'] === 'application/json'
    const body: Form = isJson ? JSON.parse(raw) : Object.fromEntries(new URLSearchParams(raw))
    const { authorization } = request.headers
    sent.push({ path, method: request.method ?? '', body, authorization })
    reply(endpoint(body))
  }
  server.answer((request, response, url) => {
    if (options.other?.(request, response, url)) return
    handle(request, response, url.pathname, url.searchParams).catch(error =>
      response.writeHead(500).end(String(error)),
    )
  })
  return { issuer, asked: server.asked, stop: server.stop, sent, visit: url => fetch(url) }
}
