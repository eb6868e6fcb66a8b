import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'

/** A request of a client, as bytes. */
export interface ClientRequest {
  readonly kind: Kind
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
  /** Without `Content-Length`, in pieces of this many bytes. */
  readonly pieces?: number | undefined
}

const call = (params: string, { id = '7', method = '"tools/call"' } = {}): string =>
  `{"jsonrpc":"2.0","id":${id},"method":${method},"params":${params}}`
const named = (name: string, args = '{}'): string => `{"name":${name},"arguments":${args}}`
const JSON_TYPE = { 'content-type': 'application/json' }

interface Part {
  readonly text?: string
  readonly body?: Buffer
  readonly headers?: Record<string, string>
  readonly pieces?: number
  readonly method?: ClientRequest['method']
  readonly query?: string
}

/** What may be in a message, by kind. `args` is the text of a random JSON object, `name` that of a name. */
const KINDS = {
  plain: (name, args) => ({ text: call(named(name, args)) }),
  'names twice': name => ({ text: call(`{"name":${name},"name":"delete_all"}`) }),
  'methods twice': name => ({ text: call(named(name), { method: '"tools/list","method":"tools/call"' }) }),
  escapes: (name, args) => ({ text: call(`{"\\u006eame":${name},"arguments":${args}}`) }),
  'other case': (name, args) => ({ text: call(`{"Name":"delete_all","name":${name},"arguments":${args}}`) }),
  'huge numbers': name => ({ text: call(named(name, '{"n":12345678901234567890,"m":1e400,"z":-0.0}')) }),
  'huge id': (name, args) => ({ text: call(named(name, args), { id: '98765432109876543210' }) }),
  batch: (name, args) => ({ text: `[${call(named(name, args))},${call('{}', { id: '"8"' })}]` }),
  charset: name => ({
    body: Buffer.from(call(named(name)), 'utf16le'),
    headers: { 'content-type': 'application/json; charset=utf-16le' },
  }),
  BOM: name => ({ text: `\uFEFF${call(named(name))}` }),
  'not UTF-8': name => ({ body: Buffer.concat([Buffer.from(call(named(name))), Buffer.from([0xff])]) }),
  compressed: (name, args) => ({
    body: gzipSync(call(named(name, args))),
    headers: { 'content-encoding': 'gzip' },
  }),
  chunked: (name, args) => ({ text: call(named(name, args)), pieces: 11 }),
  'large and chunked': name => ({ text: call(named(name, `{"a":"${'x'.repeat(100_000)}"}`)), pieces: 7000 }),
  lines: (name, args) => ({ text: call(`{\r\n\t"name" : ${name} ,\n"arguments":${args}}`) }),
  'header of another call': name => ({
    text: call(named(name)),
    headers: { 'mcp-method': 'tools/list', 'mcp-name': 'harmless' },
  }),
  notification: name => ({ text: `{"jsonrpc":"2.0","method":"tools/call","params":${named(name)}}` }),
  'other method': () => ({ text: call('{}', { method: '"resources/list"' }) }),
  'query and path': name => ({ text: call(named(name)), query: '?name=delete_all&%00' }),
  'not JSON': () => ({ text: 'name=delete_all', headers: { 'content-type': 'text/plain' } }),
  stream: () => ({ method: 'GET' }),
  'end of the session': () => ({ method: 'DELETE' }),
} satisfies Record<string, (name: string, args: string) => Part>

export type Kind = keyof typeof KINDS
export const kinds = Object.keys(KINDS) as Kind[]

const names = fc.constantFrom('get_a', 'get_b', 'shown', 'delete_all', 'gét\\u0020c').map(name => `"${name}"`)
const argumentText = fc
  .dictionary(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
  .map(value => JSON.stringify(value))

const requestOf = (kind: Kind): fc.Arbitrary<ClientRequest> =>
  fc.tuple(names, argumentText).map(([name, args]) => {
    const part: Part = KINDS[kind](name, args)
    const { method = 'POST', query = '', text, pieces, headers } = part
    const body = part.body ?? (text === undefined ? undefined : Buffer.from(text))
    return {
      ...{ kind, method, query, body, pieces, headers: { ...(body ? JSON_TYPE : {}), ...headers } },
      [fc.toStringMethod]: () => kind, // what a failed run prints
    }
  })

/** One request of each kind, in any order; the one that ends the session is the last. */
export const oneOfEachKind: fc.Arbitrary<ClientRequest[]> = fc
  .shuffledSubarray(kinds.slice(0, -1), { minLength: kinds.length - 1 })
  .chain(order => fc.tuple(...[...order, ...kinds.slice(-1)].map(requestOf)))

export interface Received {
  readonly status: number
  readonly headers: IncomingHttpHeaders
}

/** Sends the bytes as they are. Resolves with the head of the response when its body has ended. */
export const send = (url: string, { method, headers, body, pieces }: ClientRequest): Promise<Received> =>
  new Promise((resolve, reject) => {
    const length: Record<string, string> = body && !pieces ? { 'content-length': String(body.length) } : {}
    const sent = httpRequest(
      url,
      {
        method,
        headers: { accept: 'application/json, text/event-stream', ...headers, ...length },
        agent: false,
      },
      response => {
        const received = { status: response.statusCode ?? 0, headers: response.headers }
        response.on('error', reject).on('end', () => resolve(received))
        response.resume()
        if (method !== 'GET') return
        resolve(received) // a stream need not end
        sent.destroy()
      },
    )
    sent.on('error', reject) // after the response it changes nothing
    for (let at = 0; body && pieces && at < body.length; at += pieces)
      sent.write(body.subarray(at, at + pieces))
    sent.end(pieces ? undefined : body)
  })
