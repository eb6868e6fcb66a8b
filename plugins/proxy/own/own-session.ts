import { createServer, type RequestListener } from 'node:http'
import { duplexPair } from 'node:stream'
import { Agent } from 'undici'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { openSseProbe, openStreamableProbe } from '../backends/probe-clients.ts'
import { createResultOf, greet } from '../check-candidate.ts'
import { effectiveMode, isSaidStateless } from '../section.ts'
import type { AskOwn } from './list-tools.ts'

const ORIGIN = 'http://localhost'
const TARGET = {
  origin: ORIGIN,
  host: 'localhost',
  scheme: 'http',
  pathFor: (url: string) => url,
  publicPath: (path: string) => path,
} as const

/**
 * Does work in an MCP session of the proxy's own with an HTTP server. The requests reach `listener` over streams in
 * this process, so nobody else can send such requests.
 */
export async function withOwnSession<T>(
  { config, listener, signal }: { config: RunConfig; listener: RequestListener; signal: AbortSignal },
  work: (ask: AskOwn) => Promise<T>,
): Promise<T> {
  const server = createServer(listener)
  const agent = new Agent({
    connect: (_options, callback) => {
      const [near, far] = duplexPair()
      server.emit('connection', far)
      // Not at once: undici would still be busy with the request that it connects for.
      queueMicrotask(() => callback(null, near as Parameters<typeof callback>[1] & typeof near))
    },
  })
  const open = effectiveMode(config) === 'sse' ? openSseProbe : openStreamableProbe
  try {
    const client = await open({ agent, target: TARGET, signal })
    const resultOf = createResultOf(problem => new Error(`it ${problem}`))
    const greeting = await greet(client, { stateless: isSaidStateless(config), resultOf })
    const result = await work(async (method, params) => {
      if (!greeting) return undefined
      const text = JSON.stringify({ ...greeting.params, ...params })
      const response = await client.ask(method, text, greeting.version)
      return response === 'credentials' ? undefined : resultOf(method, response)
    })
    await client.close()
    return result
  } finally {
    await agent.destroy()
    server.closeAllConnections()
  }
}
