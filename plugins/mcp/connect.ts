import type { Client } from '@modelcontextprotocol/client'
import { VERSION } from '../../src/build-info.ts'
import type { Log } from '../../src/log.ts'
import { excludeTools } from './exclude-tools.ts'
import { explain, isNoStreamableHttp } from './explain.ts'
import { fetchOrRefuse } from './refused-request.ts'

export interface ServerAddress {
  readonly url: URL
  /** The name of the workload that listens there, if one was named. */
  readonly workload?: string
  readonly transport: 'auto' | 'sse' | 'streamable-http'
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
}

/** An open connection to an MCP server. */
export interface McpSession {
  readonly client: Client
  /** Goes into every request: the time that is left, and the user's interrupt. */
  readonly options: { readonly signal: AbortSignal; readonly timeout: number }
  /** Turns what a request threw into a Failure; `what` names the request. */
  fail(error: unknown, what: string): never
}

const MAX_PAGES = 100_000 // a server that pages for ever is ended by the time limit

/**
 * Connects to a server of any protocol revision, does the work and closes the session.
 * The time limit covers everything from the connection to the last response.
 */
export async function withServer<T>(
  server: ServerAddress,
  { timeoutMs, signal, log }: { timeoutMs: number; signal: AbortSignal; log: Log },
  work: (session: McpSession) => Promise<T>,
): Promise<T> {
  const limit = AbortSignal.timeout(timeoutMs)
  const options = { signal: AbortSignal.any([limit, signal]), timeout: timeoutMs }
  const fail = (error: unknown, what: string): never => {
    if (signal.aborted) throw signal.reason
    throw explain(error, {
      ...{ url: server.url.href, workload: server.workload, what, timeoutMs },
      late: limit.aborted,
    })
  }
  const { client, close } = await connect(server, options, log).catch(error => fail(error, 'the connection'))
  try {
    return await orAborted(work({ client, options, fail }), options.signal).catch(error => fail(error, 'it'))
  } finally {
    await close()
  }
}

interface Connection {
  readonly client: Client
  close(): Promise<void>
}

async function connect(server: ServerAddress, options: McpSession['options'], log: Log): Promise<Connection> {
  if (server.transport === 'sse') return open({ kind: 'sse', log }, server, options)
  try {
    return await open({ kind: 'streamable-http', log }, server, options)
  } catch (error) {
    if (server.transport !== 'auto' || !isNoStreamableHttp(error)) throw error
    return open({ kind: 'sse', log }, server, options)
  }
}

async function open(
  { kind, log }: { kind: 'sse' | 'streamable-http'; log: Log },
  { url, headers = {} }: ServerAddress,
  options: McpSession['options'],
): Promise<Connection> {
  const mcp = await import('@modelcontextprotocol/client')
  const client = new mcp.Client(
    { name: 'keelson', version: VERSION },
    // The 2026-07-28 revision has no SSE transport: there, asking for it would only cost a request.
    { listMaxPages: MAX_PAGES, versionNegotiation: { mode: kind === 'sse' ? 'legacy' : 'auto' } },
  )
  const Transport = kind === 'sse' ? mcp.SSEClientTransport : mcp.StreamableHTTPClientTransport
  const transport = new Transport(url, { requestInit: { headers }, fetch: fetchOrRefuse })
  transport.onmessage = message => {
    if (client.getProtocolEra() === 'modern') excludeTools(message, log)
  }
  try {
    await orAborted(client.connect(transport, options), options.signal)
  } catch (error) {
    await transport.close().catch(() => undefined)
    throw error
  }
  return {
    client,
    async close() {
      if ('terminateSession' in transport) await endSession(transport.terminateSession())
      await client.close().catch(() => undefined)
    },
  }
}

const END_SESSION_MS = 1000

/** Ends the session at the server. A server that does not respond is not waited for. */
const endSession = (work: Promise<void>): Promise<void> =>
  orAborted(work, AbortSignal.timeout(END_SESSION_MS)).catch(() => undefined)

/** Rejects with the signal's reason as soon as it aborts; the work's own outcome is ignored then. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => undefined)
  signal.throwIfAborted()
  let abort: () => void = () => undefined
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
