import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever is there
type Json = any

export interface Answer {
  status: number
  headers: IncomingMessage['headers']
  text: string
  json: Json
}

export interface Event {
  id: string | undefined
  data: string
  event: string | undefined
  json: Json
}

const BOTH = 'application/json, text/event-stream'

export function send(
  url: string,
  options: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<IncomingMessage> {
  const { method = 'POST', body, headers = {} } = options
  const text =
    body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      {
        method,
        agent: false,
        headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      },
      resolve,
    )
    outgoing.on('error', reject)
    outgoing.end(text as string | Buffer | undefined)
  })
}

export async function readAll(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  let json: Json
  try {
    json = JSON.parse(text)
  } catch {
    json = undefined
  }
  return { status: response.statusCode ?? 0, headers: response.headers, text, json }
}

export const call = async (
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
  method = 'POST',
): Promise<Answer> => readAll(await send(url, { body, headers, method }))

/** Reads events one by one. */
export interface EventReader {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  /** The next event with data; undefined at the end of the stream. */
  next(): Promise<Event | undefined>
  /** The next event, also one without data. */
  nextAny(): Promise<Event | undefined>
  rest(): Promise<Event[]>
  /** Reads nothing more of the connection. */
  pause(): void
  close(): void
  /** Text seen so far. */
  readonly seen: string
}

export async function stream(
  url: string,
  options: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<EventReader> {
  const { body, method = body === undefined ? 'GET' : 'POST', headers = {} } = options
  const response = await send(url, { method, body, headers: { accept: BOTH, ...headers } })
  const events: Event[] = []
  let seen = ''
  let buffer = ''
  let ended = false
  let wake = () => {}
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    seen += chunk
    buffer += chunk
    for (let end = buffer.indexOf('\n\n'); end >= 0; end = buffer.indexOf('\n\n')) {
      const event = parse(buffer.slice(0, end))
      buffer = buffer.slice(end + 2)
      if (event) events.push(event)
    }
    wake()
  })
  const finish = () => {
    ended = true
    wake()
  }
  response.on('end', finish).on('error', finish).on('close', finish)

  const reader: EventReader = {
    status: response.statusCode ?? 0,
    headers: response.headers,
    async nextAny() {
      const deadline = AbortSignal.timeout(10_000)
      while (events.length === 0 && !ended) {
        if (deadline.aborted) throw new Error('no event came')
        await Promise.race([
          new Promise<void>(resolve => {
            wake = resolve
          }),
          once(deadline, 'abort'),
        ])
      }
      return events.shift()
    },
    async next() {
      for (;;) {
        const event = await reader.nextAny()
        if (event?.data !== '') return event
      }
    },
    async rest() {
      const all: Event[] = []
      for (;;) {
        const event = await reader.next()
        if (!event) return all
        all.push(event)
      }
    },
    pause: () => void response.pause(),
    close: () => void response.destroy(),
    get seen() {
      return seen
    },
  }
  return reader
}

function parse(block: string): Event | undefined {
  const fields = block.split('\n').filter(line => !line.startsWith(':'))
  if (fields.length === 0) return undefined
  const get = (name: string) =>
    fields.filter(line => line.startsWith(`${name}: `)).map(line => line.slice(name.length + 2))
  const data = get('data').join('\n')
  let json: Json
  try {
    json = JSON.parse(data)
  } catch {
    json = undefined
  }
  return { id: get('id')[0], event: get('event')[0], data, json }
}

let clients = 0

/** Opens a session and tells its header. */
export async function open(
  url: string,
  capabilities: Record<string, unknown> = {},
  version = '2025-06-18',
): Promise<{ session: string; headers: Record<string, string>; result: Json }> {
  clients += 1
  const params = {
    protocolVersion: version,
    capabilities,
    clientInfo: { name: `client ${clients}`, version: '1' },
  }
  const answer = await call(url, { jsonrpc: '2.0', id: 'init', method: 'initialize', params })
  const session = String(answer.headers['mcp-session-id'])
  const headers = { 'mcp-session-id': session, 'mcp-protocol-version': version }
  await call(url, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers)
  return { session, headers, result: answer.json.result }
}

export const rpc = (id: unknown, method: string, params?: unknown) => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params === undefined ? {} : { params }),
})
