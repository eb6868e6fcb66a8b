import { readSse } from './read-sse.ts'

/** A response that was refused, for whoever logs in; 503 is what a proxy says that needs a login. */
export class Refused extends Error {
  readonly status: number
  readonly challenge: string | undefined
  constructor(status: number, challenge: string | undefined) {
    super(`refused with ${status}`)
    this.status = status
    this.challenge = challenge
  }
}

type Ask = (method: string, params?: Record<string, unknown>) => Promise<Record<string, unknown>>

const ABOUT = { name: 'keelson', version: '1' }

/** Speaks MCP over streamable HTTP: just what the scenarios of the suite need. */
export function createMcpClient(url: string, version: string, token: () => string | undefined) {
  const isStateless = version >= '2026-07-28'
  let session: string | undefined
  let id = 0

  async function send(message: Record<string, unknown>): Promise<Response> {
    const { method, params } = message as { method: string; params?: { name?: string } }
    const bearer = token()
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(session === undefined ? {} : { 'mcp-session-id': session }),
        ...(isStateless || method !== 'initialize' ? { 'mcp-protocol-version': version } : {}),
        ...(isStateless ? { 'mcp-method': method } : {}),
        ...(isStateless && params?.name ? { 'mcp-name': params.name } : {}),
      },
      body: JSON.stringify(message),
    })
    if ([401, 403, 503].includes(response.status)) {
      await response.body?.cancel()
      throw new Refused(response.status, response.headers.get('www-authenticate') ?? undefined)
    }
    session = response.headers.get('mcp-session-id') ?? session
    return response
  }

  const ask: Ask = async (method, params = {}) => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': version,
      'io.modelcontextprotocol/clientInfo': ABOUT,
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const full = isStateless ? { ...params, _meta: meta } : params
    const response = await send({ jsonrpc: '2.0', id: ++id, method, params: full })
    const text = await response.text()
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
    const answer = JSON.parse(isStream ? readSse(text) : text)
    if (answer.error) throw new Error(`${method}: ${JSON.stringify(answer.error)}`)
    return answer.result
  }

  return {
    async open() {
      if (isStateless) return void (await ask('server/discover'))
      const params = { protocolVersion: version, capabilities: {}, clientInfo: ABOUT }
      await ask('initialize', params)
      await send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    },
    tools: async () => (await ask('tools/list')).tools as { name: string }[],
    call: (name: string) => ask('tools/call', { name, arguments: {} }),
  }
}
