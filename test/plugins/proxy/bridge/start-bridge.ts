import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { createAvailability } from '../../../../plugins/proxy/availability.ts'
import { type Bridge, type BridgeLimits, createBridge } from '../../../../plugins/proxy/bridge/index.ts'
import { createExchange } from '../../../../plugins/proxy/exchange.ts'
import { respond } from '../../../../plugins/proxy/respond.ts'
import { sendRefusal } from '../../../../plugins/proxy/send-refusal.ts'
import type { ClientInstanceFactory } from '../../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../../src/contracts/run-config.ts'
import type { Attachment } from '../../../../src/contracts/runtime.ts'
import { createLog, type Log } from '../../../../src/log.ts'

export interface Started {
  readonly bridge: Bridge
  readonly origin: string
  readonly url: string
  readonly log: string[]
  /** Cuts every connection, as a broken network would. */
  cut(): void
  /** Ends it at once; nothing listens there any more. */
  close(): Promise<void>
}

/** A bridge behind the smallest listener there can be. */
export async function startBridge(
  options: {
    attachment?: Attachment
    mode?: 'streamable-http' | 'sse'
    limits?: Partial<BridgeLimits>
    ttlMs?: number
    /** How long requests wait for a server. */
    waitMs?: number
    now?: () => number
    /** Who calls; the header `caller` names them where this is true. */
    callers?: boolean
    /** Members of the run config. */
    config?: Partial<RunConfig>
    spawn?: ClientInstanceFactory
  } = {},
): Promise<Started> {
  const {
    attachment,
    mode = 'streamable-http',
    limits = {},
    ttlMs = 60_000,
    waitMs = 5000,
    now,
    callers = false,
    config = {},
    spawn,
  } = options
  const log: string[] = []
  const bridgeLog = createLog({ write: line => void log.push(line), human: false, debug: true })
  const bridge = createBridge({
    config: {
      schema_version: 'v0.1.0',
      name: 'test',
      transport: 'stdio',
      proxy_mode: mode,
      port: 0,
      ...config,
    },
    log: bridgeLog,
    sessionTtlMs: ttlMs,
    publicBase: request => `http://${request.headers.host}`,
    availability: createAvailability({ waitMs, maxWaiting: 100 }),
    limits: { requestTimeoutMs: 300_000, sweepMs: 10, ...limits },
    ...(now ? { now } : {}),
  })
  const server = createServer(
    (request, response) =>
      void handle(bridge, request, response, {
        maxBytes: 2 ** 23,
        log: bridgeLog,
        callers,
      }),
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  async function close(): Promise<void> {
    const closed = new Promise(resolve => server.close(resolve))
    await bridge.close()
    server.closeAllConnections()
    await closed
  }
  onTestFinished(close)
  if (attachment) await bridge.connect(attachment, { spawn })
  return { bridge, origin, url: `${origin}/mcp`, log, cut: () => server.closeAllConnections(), close }
}

async function handle(
  bridge: Bridge,
  request: IncomingMessage,
  response: ServerResponse,
  options: { maxBytes: number; log: Log; callers: boolean },
): Promise<void> {
  const exchange = createExchange(request, response, { ...options, refuseBatches: false, respond })
  const { caller } = request.headers
  if (options.callers && caller) exchange.caller = { subject: String(caller), claims: {} }
  try {
    await bridge.handle(exchange)
  } catch (error) {
    sendRefusal(exchange, error, options.log)
  }
}
