import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { McpServer as SessionServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { freePort } from '../../support/free-port.ts'
import { type Behaviour, startCrooked } from './crooked-server.ts'

/** Servers of several kinds, by name, for the servers behind an endpoint. */
export interface Zoo {
  readonly urls: Readonly<Record<string, string>>
  /** How many calls of the tool `wait` are in progress. */
  readonly waiting: number
  /** How the server `crooked` behaves. */
  behave(how: Behaviour): void
  /** Lets the server `asking` respond to nothing more, or again. */
  hang(hangs: boolean): void
  close(): Promise<void>
}

export async function startZoo(): Promise<Zoo> {
  const port = await freePort()
  const program = createRequire(import.meta.url).resolve(
    '@modelcontextprotocol/server-everything/dist/index.js',
  )
  const everything: ChildProcess = spawn(process.execPath, [program, 'streamableHttp'], {
    env: { PATH: process.env.PATH, PORT: String(port) },
    stdio: 'ignore',
  })
  let waiting = 0
  let hangs = false
  const asking = await listen(
    sessions(
      server =>
        defineAsking(server, change => {
          waiting += change
        }),
      () => hangs,
    ),
  )
  const modern = await listen(
    createServer(
      toNodeHandler(
        createMcpHandler(
          () => {
            const server = new McpServer({ name: 'modern', version: '1' })
            server.registerTool('now', { description: 'Says which era this is', title: 'Now' }, () => ({
              content: [{ type: 'text', text: 'modern times' }],
            }))
            return server
          },
          { legacy: 'reject' },
        ),
      ) as never,
    ),
  )
  const crooked = startCrooked()
  await listen(crooked.server)
  return {
    urls: {
      everything: `http://127.0.0.1:${port}/mcp`,
      asking: urlOf(asking),
      modern: urlOf(modern),
      crooked: urlOf(crooked.server),
    },
    get waiting() {
      return waiting
    },
    behave: crooked.behave,
    hang(wanted) {
      hangs = wanted
    },
    async close() {
      everything.kill('SIGKILL')
      for (const server of [asking, modern, crooked.server]) {
        server.closeAllConnections()
        server.close()
      }
    },
  }
}

async function listen(server: Server): Promise<Server> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`

/** A server of 2025-11-25 with a session for each client. */
function sessions(define: (server: SessionServer) => void, hangs: () => boolean): Server {
  const open = new Map<string, StreamableHTTPServerTransport>()
  return createServer(async (request, response) => {
    if (hangs()) return
    const id = String(request.headers['mcp-session-id'] ?? '')
    const body = request.method === 'POST' ? await json(request) : undefined
    let transport = open.get(id)
    if (!transport) {
      if (id) return response.writeHead(404).end()
      const made = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => crypto.randomUUID(),
        onsessioninitialized: session => void open.set(session, made),
      })
      transport = made
      const server = new SessionServer({ name: 'asking', version: '1' }, { capabilities: { logging: {} } })
      define(server)
      await server.connect(made as Transport)
    }
    await transport.handleRequest(request, response, body)
  })
}

const said = (value: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(value) }] })

function defineAsking(server: SessionServer, countWaiting: (change: number) => void): void {
  server.registerTool('elicit', { description: 'Asks for a name' }, async () =>
    said(
      await server.server.elicitInput({
        message: 'Name?',
        requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
      }),
    ),
  )
  server.registerTool('sample', { description: 'Asks a model' }, async () =>
    said(
      await server.server.createMessage({
        messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }],
        maxTokens: 10,
      }),
    ),
  )
  server.registerTool('roots', { description: 'Asks for roots' }, async () =>
    said(await server.server.listRoots()),
  )
  server.registerTool('wait', { description: 'Waits until it is cancelled' }, async ({ signal }) => {
    countWaiting(1)
    await once(signal, 'abort')
    countWaiting(-1)
    return said('cancelled')
  })
  server.registerTool('add', { description: 'Adds a tool' }, async () => {
    server.registerTool('added', { description: 'New' }, async () => said('new'))
    return said('added')
  })
}
