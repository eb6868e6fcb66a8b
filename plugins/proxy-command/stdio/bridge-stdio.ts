import type { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import type { Log } from '../../../src/log.ts'
import { createFramer, idOfOversize } from '../../../src/net/framing.ts'
import { modernVersionOf } from '../../../src/net/modern-headers.ts'
import { INVALID_REQUEST, SERVER_ERROR } from '../../../src/net/rpc-error-codes.ts'
import { errorText, type Message } from '../../../src/net/rpc-message.ts'
import { type Calls, createCalls } from './calls.ts'
import { createClientSide } from './client-side.ts'
import { readLine } from './read-line.ts'
import { agreedVersion, createSessionMemory } from './session-memory.ts'
import { createSseUpstream } from './sse-upstream.ts'
import { createStreamableUpstream } from './streamable-upstream.ts'
import type { Upstream } from './upstream.ts'
import type { WorkloadAddress } from './workload-address.ts'
import { createWorkloadRequests } from './workload-requests.ts'

/** What the proxy of a workload takes, so that a longer line could not be passed on. */
const MAX_LINE = 8 * 1024 * 1024
/** How long calls may go on after the client has ended its output, in milliseconds. */
const DRAIN_MS = 60_000

export interface StdioBridgeOptions {
  readonly stdin: Readable
  readonly stdout: Writable
  readonly address: WorkloadAddress
  readonly callerHeaders: () => Promise<Readonly<Record<string, string>>>
  readonly log: Log
  readonly signal: AbortSignal
  readonly patienceMs?: number
  /** As of `createWorkloadRequests`. */
  readonly agent?: Dispatcher
  /** Called before an error response is written to a request that the server has not responded to. */
  readonly onLost?: (idText: string) => void
}

/**
 * Carries the messages of one stdio client to a workload and back, until the client closes its output and its
 * calls have ended, or the signal aborts.
 */
export async function bridgeStdio(options: StdioBridgeOptions): Promise<void> {
  const { stdin, stdout, address, log, signal } = options
  const calls = createCalls()
  const memory = createSessionMemory()
  const requests = createWorkloadRequests(options)
  const client = createClientSide({
    stdout,
    calls,
    log,
    onLost: options.onLost,
    onResponse(call, text) {
      if (call.method === 'initialize' && agreedVersion(text) !== undefined) memory.confirm()
      return upstream.onResponse(call, text)
    },
  })
  const parts = { requests, client, calls, memory, log }
  const upstream: Upstream =
    address.mode === 'sse' ? createSseUpstream({ ...parts, address }) : createStreamableUpstream(parts)

  async function pass(message: Message): Promise<void> {
    if (message.kind !== 'request') {
      memory.observe(message)
      return upstream.send(message)
    }
    const call = calls.open(message, { modern: modernVersionOf(message) !== undefined })
    if (call === 'repeated') {
      return client.write(errorText(undefined, INVALID_REQUEST, 'A request with this id is in progress'))
    }
    if (call === 'busy') {
      return client.write(errorText(message.idText, SERVER_ERROR, 'Too many requests are waiting'))
    }
    memory.observe(message)
    return upstream.send(message, call)
  }

  const lines: (() => Promise<void>)[] = []
  const framer = createFramer({
    maxLine: MAX_LINE,
    onLine: text => {
      const line = readLine(text)
      lines.push(() => (line.kind === 'wrong' ? client.write(line.response) : pass(line)))
    },
    onOversize: (head, tail, bytes) => {
      const problem = `The message has ${bytes} bytes; at most ${MAX_LINE} are allowed`
      lines.push(() => client.write(errorText(idOfOversize(head, tail), INVALID_REQUEST, problem)))
    },
  })
  const passLines = async () => {
    for (let next = lines.shift(); next; next = lines.shift()) await next()
  }

  const stop = () => void stdin.destroy()
  signal.addEventListener('abort', stop, { once: true })
  try {
    if (signal.aborted) return
    for await (const chunk of stdin) {
      framer.push(chunk as Buffer)
      await passLines()
    }
    framer.end()
    await passLines()
    await drained(calls, signal)
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    signal.removeEventListener('abort', stop)
    await upstream.close()
  }
}

/** Waits until the calls have ended, `DRAIN_MS` at most. */
async function drained(calls: Calls, signal: AbortSignal): Promise<void> {
  const idle = new AbortController()
  const late = delay(DRAIN_MS, undefined, { signal: AbortSignal.any([idle.signal, signal]) })
  await Promise.race([calls.idle().then(() => idle.abort()), late.catch(() => undefined)])
}
