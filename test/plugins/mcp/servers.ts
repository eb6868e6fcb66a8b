import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { onTestFinished } from 'vitest'
import { freePort } from '../../support/free-port.ts'

/** An HTTP server that goes away with the test; answers where it is. */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The real server-everything as a process of its own; answers its URL when it listens. */
export async function everything(mode: 'streamableHttp' | 'sse'): Promise<string> {
  const port = await freePort()
  const program = createRequire(import.meta.url).resolve(
    '@modelcontextprotocol/server-everything/dist/index.js',
  )
  const child = spawn(process.execPath, [program, mode], {
    env: { PATH: process.env.PATH, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await new Promise<void>((resolve, reject) => {
    let said = ''
    child.stderr.on('data', chunk => {
      said += String(chunk)
      if (said.includes(String(port))) resolve()
    })
    child.once('exit', () => reject(new Error(`server-everything ended: ${said}`)))
  })
  return `http://127.0.0.1:${port}/${mode === 'sse' ? 'sse' : 'mcp'}`
}

/** A server that speaks the 2026-07-28 revision and nothing older. */
export function modernServer(): Promise<string> {
  const handler = createMcpHandler(
    () => {
      const server = new McpServer({ name: 'modern', version: '1.0.0' })
      server.registerTool('now', { description: 'Says which era this is' }, () => ({
        content: [{ type: 'text', text: 'modern times' }],
      }))
      return server
    },
    { legacy: 'reject' },
  )
  const listener = toNodeHandler(handler)
  return serve((request, response) => void listener(request as never, response))
}

type Request = { id?: number; method: string; params?: { cursor?: string; name?: string } }

/** A 2025-era server without sessions that answers each method as told; a string is an error's message. */
export function scripted(
  answers: Record<string, (params: Request['params']) => object | string>,
): Promise<string> {
  const known: typeof answers = {
    initialize: () => ({
      protocolVersion: '2025-11-25',
      capabilities: { tools: {}, resources: {}, prompts: {} },
      serverInfo: { name: 'scripted', version: '1.0.0' },
    }),
    ...answers,
  }
  return serve(async (request: IncomingMessage, response) => {
    if (request.method !== 'POST') return response.writeHead(405).end()
    const { id, method, params } = (await json(request)) as Request
    if (id === undefined) return response.writeHead(202).end()
    const answer = known[method]?.(params) ?? 'no such method'
    const body =
      typeof answer === 'string' ? { error: { code: -32603, message: answer } } : { result: answer }
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ jsonrpc: '2.0', id, ...body }))
  })
}
