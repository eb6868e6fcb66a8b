// Many sessions, one request id: `node bridge-clients.ts PORT REQUESTS SESSIONS [strict]`. Prints counts as JSON.
// With `strict` each request has an id of its own, and takes JSON and an event stream, as other bridges require.
//
// A process of its own, because the connections of both ends together are more than one may have open.
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'

const [port, requests, sessions] = process.argv.slice(2).map(Number) as [number, number, number]
const isStrict = process.argv[5] === 'strict'
const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY })

const next: (() => void)[] = []
let connecting = 0

interface Answer {
  status: number
  headers: IncomingMessage['headers']
  text: string
}

async function post(
  body: unknown,
  options: { session?: string | undefined; stream?: boolean } = {},
): Promise<Answer> {
  const { session, stream } = options
  // No more at a time than the listen queue holds: a lost SYN is sent again only after a second.
  if (connecting >= 500) await new Promise<void>(resolve => next.push(resolve))
  connecting += 1
  const outgoing = request({
    port,
    host: '127.0.0.1',
    path: '/mcp',
    method: 'POST',
    agent,
    headers: {
      'content-type': 'application/json',
      accept: stream ? 'application/json, text/event-stream' : 'application/json',
      ...(session ? { 'mcp-session-id': session } : {}),
    },
  })
  outgoing.end(JSON.stringify(body))
  await once(outgoing, 'finish')
  connecting -= 1
  next.shift()?.()
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: Buffer.concat(chunks).toString(),
  }
}

const params = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
}
const ids = await Promise.all(
  Array.from({ length: sessions }, async () => {
    const answer = await post({ jsonrpc: '2.0', id: 1, method: 'initialize', params }, { stream: isStrict })
    return String(answer.headers['mcp-session-id'])
  }),
)

const counts = { answered: 0, lost: 0, swapped: 0, busy: 0, errors: 0 }
const begin = performance.now()
await Promise.all(
  Array.from({ length: requests }, async (_, n) => {
    try {
      // Every other one takes an event stream too, and gets one when its response does not come soon.
      const stream = isStrict || n % 2 === 1
      const own = isStrict ? n + 2 : 1
      const body = {
        jsonrpc: '2.0',
        id: own,
        method: 'tools/call',
        params: { name: 'echo', arguments: { n } },
      }
      const answer = await post(body, { session: ids[n % sessions], stream })
      if (answer.status === 503 && answer.headers['retry-after']) counts.busy += 1
      else if (answer.status !== 200) counts.errors += 1
      else {
        const data = /event-stream/.test(String(answer.headers['content-type']))
          ? answer.text
              .split('\n')
              .findLast(line => /^data: \{/.test(line))
              ?.slice(6)
          : answer.text
        const { id, result } = JSON.parse(data ?? '{}')
        counts.answered += 1
        if (id !== own || result?.content?.[0]?.text !== String(n)) counts.swapped += 1
      }
    } catch {
      counts.lost += 1
    }
  }),
)
const seconds = (performance.now() - begin) / 1000
process.stdout.write(`${JSON.stringify({ ...counts, seconds })}\n`)
