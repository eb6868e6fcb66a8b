import type { IncomingMessage, ServerResponse } from 'node:http'
import { type RegistryServer, registryServer, sendJson } from '../../../support/registry-server.ts'

export interface ProtectedServer extends RegistryServer {
  /** Of its MCP endpoint. */
  readonly mcp: string
}

/** A remote MCP server that demands tokens of an issuer, and says so as the specification wants. */
export async function protectedServer(options: {
  readonly issuer: string
  readonly scopes?: readonly string[]
  /** Value of `WWW-Authenticate`; `METADATA` in it stands for the metadata's URL. */
  readonly challenge?: string
  readonly resource?: string
  /** To a request with a token; an empty object without it. */
  readonly respond?: (request: IncomingMessage, response: ServerResponse) => void
}): Promise<ProtectedServer> {
  const { issuer, scopes, respond = (_, response) => sendJson(response, {}) } = options
  const { challenge = 'Bearer resource_metadata="METADATA"' } = options
  const server = await registryServer()
  const metadata = `${server.url}/.well-known/oauth-protected-resource/mcp`
  server.answer((request: IncomingMessage, response: ServerResponse, url) => {
    if (url.href.endsWith('/.well-known/oauth-protected-resource/mcp')) {
      return sendJson(response, {
        resource: options.resource ?? `${server.url}/mcp`,
        authorization_servers: [issuer],
        scopes_supported: scopes,
      })
    }
    if (url.pathname !== '/mcp') return response.writeHead(404).end()
    if (request.headers.authorization?.startsWith('Bearer ')) return respond(request, response)
    response.writeHead(401, { 'www-authenticate': challenge.replace('METADATA', metadata) }).end()
  })
  return { ...server, mcp: `${server.url}/mcp` }
}
