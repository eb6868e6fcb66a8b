import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { Agent } from 'undici'
import { createAvailability } from '../plugins/proxy/availability.ts'
import { createBridge } from '../plugins/proxy/bridge/index.ts'
import { createExchange } from '../plugins/proxy/exchange.ts'
import { createForwarder } from '../plugins/proxy/forwarder.ts'
import { respond } from '../plugins/proxy/respond.ts'
import { sendRefusal } from '../plugins/proxy/send-refusal.ts'
import type { Exchange } from '../src/contracts/pipeline.ts'
import type { Exit } from '../src/contracts/runtime.ts'
import { createLog } from '../src/log.ts'
import { here } from './paced-run.ts'

export type Era = 'legacy' | 'stateless'

/** A server behind a proxy of its own. */
export interface OpenServer {
  readonly url: string
  close(): Promise<void>
}

const log = createLog({ write: line => void process.stderr.write(line), human: true, debug: false })
const availability = () => createAvailability({ waitMs: 5000, maxWaiting: 2048 })
const rules = { refuseBatches: true, maxBytes: 2 ** 23 }

/** A stdio server behind a bridge. */
export async function openStdioServer(era: Era, children: ChildProcess[]): Promise<OpenServer> {
  const child = spawn(process.execPath, [here('eras-server.ts'), era])
  children.push(child)
  const bridge = createBridge({
    availability: availability(),
    config: { schema_version: 'v0.1.0', name: `bench-${era}`, transport: 'stdio', port: 0 },
    log,
    sessionTtlMs: 60_000,
    publicBase: () => '',
    // The load reads no event streams, which a call gets whose response does not come soon.
    limits: { requestTimeoutMs: 60_000, holdHeadMs: 60_000 },
  })
  const server = await serve(exchange => bridge.handle(exchange))
  const exit = once(child, 'exit').then((): Exit => ({}))
  await bridge.connect({ stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, exit, detach() {} })
  return { url: server.url, close: () => bridge.close().then(server.close) }
}

/** A server of streamable HTTP behind a forwarder. */
export async function openHttpServer(era: Era, children: ChildProcess[]): Promise<OpenServer> {
  const child = spawn(process.execPath, [here('eras-server.ts'), era, 'http'])
  children.push(child)
  const [port] = await once(createInterface({ input: child.stdout }), 'line')
  const agent = new Agent({ allowH2: false })
  const forwarder = await createForwarder({
    config: { schema_version: 'v0.1.0', name: `bench-${era}`, transport: 'streamable-http', port: 0 },
    ...{ log, agent: () => agent, rules, availability: availability(), headersTimeoutMs: 60_000 },
  })
  await forwarder.connect({ kind: 'http', target: new URL(`http://127.0.0.1:${port}`), remote: false })
  const server = await serve(async exchange => forwarder.handle(exchange, undefined))
  return {
    url: server.url,
    async close() {
      await forwarder.close()
      await agent.destroy()
      server.close()
    },
  }
}

async function serve(handle: (exchange: Exchange) => Promise<void>) {
  const server = createServer((request, response) => {
    const exchange = createExchange(request, response, { ...rules, respond })
    handle(exchange).catch(error => sendRefusal(exchange, error, log))
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
