import { setTimeout as delay } from 'node:timers/promises'
import type { AskServer } from './ask-server.ts'
import type { Connection } from './connection.ts'
import type { ServerEras } from './server-eras.ts'

/**
 * How long a server may be silent until it gets a second `ping`, in milliseconds. The Python SDK up to 1.9.0 fails at
 * a `ping` before `initialize`, but exits only when it reads the next line.
 */
const SECOND_PING_MS = 1000

/** As `Proxy.ready`, for the process that is connected now. */
export async function waitForResponse({
  connection,
  ask,
  eras,
  timeoutMs,
  signal,
  ping,
}: {
  connection: Connection
  ask: AskServer
  eras: ServerEras
  timeoutMs: number
  signal: AbortSignal
  ping: boolean
}): Promise<void> {
  const over = new AbortController()
  const limit = AbortSignal.any([signal, over.signal])
  const { responded } = connection
  /** MCP allows `ping` before `initialize` (lifecycle). It has no time-out, since cancelling it would send a message. */
  const send = () =>
    void ask('ping', eras.pingParams, { timeoutMs: Number.POSITIVE_INFINITY }).then(eras.notePing)
  const isOwnTurn = (sent: number) => connection.sent === sent && connection.responded === responded

  async function pingTwice(): Promise<void> {
    if (!isOwnTurn(0)) return
    send()
    await delay(SECOND_PING_MS, undefined, { signal: limit })
    if (isOwnTurn(1)) send()
  }

  if (ping) pingTwice().catch(() => undefined) // ended before the second
  try {
    const late = delay(timeoutMs, undefined, { signal: limit }).then(() => {
      throw new Error(`it has not responded within ${timeoutMs / 1000} seconds`)
    })
    await Promise.race([responded, late])
  } finally {
    over.abort()
  }
}
