import { PassThrough } from 'node:stream'
import { onTestFinished } from 'vitest'
import { bridgeStdio } from '../../../plugins/proxy-command/stdio/bridge-stdio.ts'
import type { WorkloadAddress } from '../../../plugins/proxy-command/stdio/workload-address.ts'
import type { ProxyMode } from '../../../src/contracts/run-config.ts'
import { createLog } from '../../../src/log.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever is there
type Json = any

/** One end of `proxy stdio`, written and read line by line. */
export interface StdioClient {
  /** What the proxy wrote to standard error. */
  readonly logged: readonly string[]
  /** All lines that came. */
  readonly lines: readonly string[]
  write(line: string | Buffer): void
  send(message: unknown): void
  /** The next line (from the first on) that fits and was not taken yet. */
  take(fits: (message: Json) => boolean): Promise<Json>
  /** The response to a request. */
  response(id: string | number): Promise<Json>
  /** Sends the handshake. */
  initialize(params?: Record<string, unknown>): Promise<Json>
  /** Where the workload is, from the next attempt on. */
  move(url: string): void
  /** Ends standard input; resolves when the proxy has ended. */
  end(): Promise<void>
}

/** Starts `proxy stdio` in this process, before the URL of a workload. */
export function stdioClient(
  url: string,
  options: { mode?: ProxyMode; patienceMs?: number } = {},
): StdioClient {
  const stdin = new PassThrough()
  const stdout = new PassThrough()
  const abort = new AbortController()
  const logged: string[] = []
  const lines: string[] = []
  const taken = new Set<number>()
  const wakers = new Set<() => void>()
  let next = url
  let current = url
  const address: WorkloadAddress = {
    get url() {
      return new URL(current)
    },
    mode: options.mode ?? 'streamable-http',
    async refresh() {
      current = next
    },
  }
  let rest = ''
  stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts)
    for (const wake of wakers) wake()
  })
  const running = bridgeStdio({
    stdin,
    stdout,
    address,
    callerHeaders: async () => ({}),
    log: createLog({ write: line => logged.push(line), human: false, debug: true }),
    signal: abort.signal,
    ...(options.patienceMs === undefined ? {} : { patienceMs: options.patienceMs }),
  })
  onTestFinished(async () => {
    abort.abort()
    await running
  })

  const client: StdioClient = {
    logged,
    lines,
    write: line => void stdin.write(Buffer.concat([Buffer.from(line), Buffer.from('\n')])),
    send: message => client.write(JSON.stringify(message)),
    async take(fits) {
      const deadline = AbortSignal.timeout(10_000)
      for (;;) {
        const found = lines.findIndex((line, at) => !taken.has(at) && fits(JSON.parse(line)))
        if (found >= 0) {
          taken.add(found)
          return JSON.parse(lines[found] ?? '')
        }
        await new Promise<void>((resolve, reject) => {
          const late = () =>
            reject(
              new Error(
                `nothing like ${fits} among ${lines.slice(-10).join('\n').slice(0, 2000)}\n${logged.join('')}`,
              ),
            )
          wakers.add(resolve)
          deadline.addEventListener('abort', late, { once: true })
        })
      }
    },
    response: id => client.take(message => message.id === id && message.method === undefined),
    async initialize(params = {}) {
      client.send({
        jsonrpc: '2.0',
        id: 'init',
        method: 'initialize',
        params: {
          protocolVersion: '2025-11-25',
          capabilities: {},
          clientInfo: { name: 't', version: '1' },
          ...params,
        },
      })
      const response = await client.response('init')
      client.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
      return response
    },
    move(to) {
      next = to
    },
    async end() {
      stdin.end()
      await running
    },
  }
  return client
}
