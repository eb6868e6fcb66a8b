import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { sendJson } from '../../support/registry-server.ts'

/** Responds to each request as an MCP server would whose one tool returns its argument `text`. */
export async function echoTool(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request)
  const { id, method, params } = body ? JSON.parse(body) : { id: null, method: '', params: {} }
  const content = [{ type: 'text', text: params?.arguments?.text }]
  sendJson(response, { jsonrpc: '2.0', id, result: method === 'tools/call' ? { content } : {} })
}
