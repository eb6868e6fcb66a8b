import type { IncomingMessage, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { testServer } from '../proxy/test-proxy.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever is there
type Json = any

/** A server that asks the client a question in each call, and asks it on the event stream of the session. */
export interface AskingServer {
  readonly url: string
  /** Questions for which there was no event stream; nobody has heard them. */
  readonly unheard: number
  /** Sessions opened so far. */
  readonly sessions: number
  /** How many event streams are open. */
  readonly streams: number
  /** Cuts the event streams. */
  cut(): void
  /** Forgets the sessions and cuts the event streams, as a restart does. */
  restart(): void
}

const OPENED = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'asking', version: '1' },
}

export async function askingServer(): Promise<AskingServer> {
  const streams = new Map<string, ServerResponse>()
  const waiting = new Map<string, (answer: Json) => void>()
  const known = new Set<string>()
  let sessions = 0
  let questions = 0
  let unheard = 0

  async function ask(session: string): Promise<Json> {
    const id = `question-${++questions}`
    const answer = new Promise<Json>(resolve => waiting.set(id, resolve))
    const stream = streams.get(session)
    const params = { mode: 'form', message: 'who?', requestedSchema: { type: 'object', properties: {} } }
    if (stream)
      stream.write(
        `data: ${JSON.stringify({ jsonrpc: '2.0', id, method: 'elicitation/create', params })}\n\n`,
      )
    else unheard++
    return answer
  }

  function listen(session: string, response: ServerResponse): void {
    streams.set(session, response)
    response.on('close', () => streams.get(session) === response && streams.delete(session))
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
  }

  async function respond(message: Json, session: string, response: ServerResponse): Promise<void> {
    response.setHeader('content-type', 'application/json')
    const send = (result: Json) => response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }))
    if (message.method === 'initialize') {
      known.add(`session-${++sessions}`)
      response.setHeader('mcp-session-id', `session-${sessions}`)
      return void send(OPENED)
    }
    if (message.method === undefined) waiting.get(message.id)?.(message.result)
    if (message.id === undefined || message.method === undefined) return void response.writeHead(202).end()
    if (message.method !== 'tools/call') return void send({})
    send({ content: [{ type: 'text', text: (await ask(session)).action }] })
  }

  const origin = await testServer(async (request: IncomingMessage, response) => {
    const session = String(request.headers['mcp-session-id'] ?? '')
    const message = request.method === 'POST' ? ((await json(request)) as Json) : undefined
    if (message?.method !== 'initialize' && !known.has(session)) return response.writeHead(404).end()
    if (request.method === 'GET') return listen(session, response)
    if (message) return respond(message, session, response)
    return response.end()
  })
  const cut = () => {
    for (const stream of streams.values()) stream.destroy()
  }
  return {
    url: `${origin}/mcp`,
    get unheard() {
      return unheard
    },
    get sessions() {
      return sessions
    },
    get streams() {
      return streams.size
    },
    cut,
    restart() {
      known.clear()
      cut()
    },
  }
}
