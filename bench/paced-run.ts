import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'

export const here = (file: string) => new URL(file, import.meta.url).pathname

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

const response = Buffer.from(
  JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'x'.repeat(950) }] } }),
)

/** In bytes; what is shorter are questions of the proxy. */
const SMALLEST_CALL = 500

/** Lets the proxy open a session and ask for tools. */
async function respondToProxy(request: IncomingMessage, answer: ServerResponse): Promise<void> {
  let text = ''
  for await (const chunk of request) text += chunk
  const { id, method } = JSON.parse(text)
  if (id === undefined) return void answer.writeHead(202).end()
  const serverInfo = { name: 'bench', version: '1' }
  const result =
    method === 'tools/list'
      ? { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }
      : { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo }
  answer.writeHead(200, { 'content-type': 'application/json' })
  answer.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
}

/** A remote server that counts what arrives with which header. */
export async function remoteServer() {
  const counts = { none: 0, exchanged: 0, other: 0 }
  const server = createServer((request, answer) => {
    const { authorization } = request.headers
    if (authorization === undefined) counts.none++
    else if (authorization === 'Bearer an-exchanged-token') counts.exchanged++
    else counts.other++
    if (Number(request.headers['content-length']) < SMALLEST_CALL) return void respondToProxy(request, answer)
    const headers = { 'content-type': 'application/json', 'content-length': response.length }
    request.resume().on('end', () => answer.writeHead(200, headers).end(response))
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, counts, server }
}

export interface Quantiles {
  readonly p50: number
  readonly p99: number
}

/** Of all calls in milliseconds, and of those in each block of turns. */
export interface Load extends Quantiles {
  readonly blocks: readonly Quantiles[]
  /** Processor time of the supervisor for one call, in milliseconds. */
  readonly cpu: number
  readonly total: number
  readonly failed: number
  /** Calls that were not made, as every connection was in use when they were due. */
  readonly late: number
}

/** What `paced-load.ts` does. */
export interface LoadOrder {
  readonly targets: readonly {
    readonly url: string
    readonly token?: string | undefined
    /** Other headers and another body than those of a plain call. */
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
  }[]
  /** The supervisor. */
  readonly pid: number
  readonly callsPerSecond: number
  readonly turnMs: number
  readonly turns: number
  /** How many turns make a block; all without it. */
  readonly turnsOfBlock?: number
  /** Turns of each target before the measured ones: code is compiled then. */
  readonly warmUpTurns: number
}

/** Calls targets at a steady pace in turns, from a process of its own. Returns a load for each. */
export async function load(order: LoadOrder, children: ChildProcess[]): Promise<readonly Load[]> {
  const child = spawn(process.execPath, [here('paced-load.ts'), JSON.stringify(order)])
  children.push(child)
  child.stderr.pipe(process.stderr)
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  const loads: readonly Load[] = JSON.parse(String(line))
  const failed = loads.findIndex(one => one.failed > 0)
  if (failed >= 0) throw new Error(`${loads[failed]?.failed} calls of ${order.targets[failed]?.url} failed`)
  return loads
}
