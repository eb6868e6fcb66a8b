// A server of one era, the first argument: `legacy` or `stateless`. It responds to each call with 950 bytes, over stdio
// or, with `http` as the second argument, over streamable HTTP on a port that it prints.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'

const isLegacy = process.argv[2] === 'legacy'
const serverInfo = { name: 'bench', version: '1' }
const capabilities = { tools: {} }
const called = { content: [{ type: 'text', text: 'x'.repeat(950) }] }

const RESULTS: Readonly<Record<string, object>> = isLegacy
  ? {
      initialize: { protocolVersion: '2025-11-25', capabilities, serverInfo },
      ping: {},
      'tools/call': called,
    }
  : {
      'server/discover': {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities,
        serverInfo,
        ttlMs: 0,
        cacheScope: 'private',
      },
      'tools/call': { resultType: 'complete', ...called },
    }
/** What a stateless server says to what does not name its revision, as `initialize` does not. */
const OTHER = { code: isLegacy ? -32601 : -32022, message: 'not here' }

/** The response to a request; undefined for a notification. */
function respondTo(line: string): string | undefined {
  const { id, method } = JSON.parse(line)
  if (id === undefined) return undefined
  const result = RESULTS[method]
  return JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error: OTHER }) })
}

if (process.argv[3] === 'http') {
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const body = respondTo(await text(request))
    if (body === undefined) return void response.writeHead(202).end()
    response.writeHead(body.includes('"error":') ? 400 : 200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...(body.includes('"protocolVersion":') ? { 'mcp-session-id': crypto.randomUUID() } : {}),
    })
    response.end(body)
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
  })
} else {
  createInterface({ input: process.stdin }).on('line', line => {
    const response = respondTo(line)
    if (response !== undefined) process.stdout.write(`${response}\n`)
  })
}
