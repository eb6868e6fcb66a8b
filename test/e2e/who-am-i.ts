import type { IncomingMessage, ServerResponse } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { IdentityProvider } from '../support/identity-provider.ts'

/**
 * Responds as an MCP server whose tool `who_am_i` returns the account of the token. For each request it asks the
 * provider about the token (RFC 7662), and judges the token's end by a clock of its own.
 */
export const whoAmIServer =
  (provider: IdentityProvider, clock: () => number) => (request: IncomingMessage, response: ServerResponse) =>
    void respond(request, response, { provider, clock }).catch(error => {
      response.writeHead(500).end(String(error))
    })

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  { provider, clock }: { provider: IdentityProvider; clock: () => number },
): Promise<void> {
  const token = request.headers.authorization?.slice('Bearer '.length) ?? ''
  const { active, exp = 0, sub = '' } = await introspect(provider, token)
  if (!active || exp * 1000 <= clock()) {
    response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end()
    return
  }
  if (request.method !== 'POST') {
    response.writeHead(405, { allow: 'POST' }).end()
    return
  }
  const server = new McpServer({ name: 'who-am-i', version: '1' })
  server.registerTool('who_am_i', { description: 'Returns whose token it gets' }, () => ({
    content: [{ type: 'text', text: sub }],
  }))
  const transport = new StreamableHTTPServerTransport()
  response.once('close', () => void server.close())
  await server.connect(transport as Transport)
  await transport.handleRequest(request, response)
}

async function introspect({ issuer, service }: IdentityProvider, token: string) {
  const response = await fetch(`${issuer}/token/introspection`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${service.id}:${service.secret}`).toString('base64')}` },
    body: new URLSearchParams({ token }),
  })
  if (!response.ok) throw new Error(`the identity provider tells nothing of tokens: ${response.status}`)
  return (await response.json()) as { active: boolean; exp?: number; sub?: string }
}
