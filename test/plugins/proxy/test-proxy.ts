import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { Agent } from 'undici'
import { onTestFinished } from 'vitest'
import type { FairShare } from '../../../plugins/proxy/fair-share.ts'
import { LISTENER_LIMITS, type ListenerLimits } from '../../../plugins/proxy/listener.ts'
import { type OpenProxy, openProxy } from '../../../plugins/proxy/open-proxy.ts'
import type { AccessProblem, MiddlewareFactory } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { createCallers } from '../../../src/http/callers.ts'
import { createLog } from '../../../src/log.ts'
import { createPeerOwners } from '../../../src/net/peer-owner.ts'

export interface TestProxy extends OpenProxy {
  /** `http://127.0.0.1:port`. */
  readonly origin: string
  /** What it logged, one line each. */
  readonly logged: readonly string[]
}

/** Opens a proxy on a free port that goes away with the test; connected when a target is given. */
export async function testProxy(
  options: {
    target?: string
    config?: Partial<RunConfig>
    middlewares?: readonly MiddlewareFactory[]
    /** Those of a plugin that the user has added. */
    added?: readonly MiddlewareFactory[]
    limits?: Partial<ListenerLimits>
    wait?: { waitMs: number; maxWaiting: number }
    headersTimeoutMs?: number
    bodies?: FairShare
    onAccess?: (problem: AccessProblem | undefined) => void
  } = {},
): Promise<TestProxy> {
  const logged: string[] = []
  const agent = new Agent({ allowH2: false })
  const log = createLog({ write: line => logged.push(line), human: false, debug: true })
  const proxy = await openProxy({
    config: {
      schema_version: 'v0.1.0',
      name: 'test',
      transport: 'streamable-http',
      port: 0,
      ...options.config,
    },
    log,
    agent: () => agent,
    middlewares: [
      ...(options.middlewares ?? []).map(make => ({ make, plugin: 'test' })),
      ...(options.added ?? []).map(make => ({ make, plugin: 'added', isAdded: true })),
    ],
    limits: { ...LISTENER_LIMITS, ...options.limits },
    ...(options.bodies ? { bodies: options.bodies } : {}),
    callers: createCallers({ owners: createPeerOwners(), token: async () => undefined, log }),
    wait: options.wait ?? { waitMs: 200, maxWaiting: 8 },
    headersTimeoutMs: options.headersTimeoutMs ?? 20_000,
    onAccess: options.onAccess,
  })
  onTestFinished(async () => {
    await proxy.close({ graceMs: 0 })
    await agent.destroy()
  })
  if (options.target !== undefined) {
    await proxy.connect({
      kind: 'http',
      target: new URL(options.target),
      remote: options.config?.remote_url !== undefined,
    })
  }
  return {
    ...proxy,
    get access() {
      return proxy.access
    },
    get protocol() {
      return proxy.protocol
    },
    origin: `http://127.0.0.1:${proxy.port}`,
    logged,
  }
}

/** A server in this process that goes away with the test. Gives its origin. */
export async function testServer(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server that speaks raw bytes. */
export async function rawServer(onSocket: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createTcpServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    onSocket(socket)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Sends bytes as they are and gives all that came back until the server ended the connection. */
export function sendRaw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => socket.write(text))
    socket.on('data', chunk => {
      answer += chunk.toString('latin1')
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', error => (answer ? undefined : reject(error)))
    onTestFinished(() => void socket.destroy())
  })
}

/** Resolves when the condition holds; fails after five seconds. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 30_000
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`never came true: ${condition}`)
    await new Promise(resolve => setTimeout(resolve, 5))
  }
}

export const rpc = (method: string, id?: string | number, params?: unknown): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    ...(id === undefined ? {} : { id }),
    method,
    ...(params ? { params } : {}),
  })

export const post = (
  url: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body,
  })
