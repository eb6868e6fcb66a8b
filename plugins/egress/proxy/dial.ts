import { connect, type OnReadOpts, type Socket } from 'node:net'

/** Opens a socket to an address (never a name). Replaceable, so that a test sees every connection. */
export type Connect = (address: string, port: number, onread?: OnReadOpts) => Socket

/** Both ends may close one direction and go on in the other; dead peers are found by keep-alive probes. */
export const connectTo: Connect = (address, port, onread) =>
  connect({
    host: address,
    port,
    allowHalfOpen: true,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
    ...(onread ? { onread } : {}),
  })

export interface DialOptions {
  readonly addresses: readonly string[]
  readonly port: number
  readonly connect: Connect
  /** Time limit for all attempts together, in milliseconds. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
  /** Takes what is received, in place of the stream's own events. */
  readonly onread?: OnReadOpts
}

/** Connects to the first of the addresses that accepts, IPv4 first. Fails with the error of the last. */
export async function dial(options: DialOptions): Promise<Socket> {
  const { addresses, port, connect, timeoutMs, signal, onread } = options
  const ordered = addresses.toSorted((a, b) => Number(a.includes(':')) - Number(b.includes(':')))
  const end = performance.now() + timeoutMs
  let last: unknown
  for (const [index, address] of ordered.entries()) {
    signal?.throwIfAborted()
    const share = (end - performance.now()) / (ordered.length - index)
    try {
      return await attempt(connect(address, port, onread), share, signal)
    } catch (error) {
      last = error
    }
  }
  throw last
}

function attempt(socket: Socket, timeoutMs: number, signal: AbortSignal | undefined): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => fail(timedOut()), Math.max(0, timeoutMs))
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      socket.off('connect', onConnect).off('error', fail)
    }
    const onConnect = () => {
      done()
      resolve(socket)
    }
    const fail = (error: unknown) => {
      done()
      socket.once('error', () => undefined).destroy()
      reject(error)
    }
    const onAbort = () => fail(signal?.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    socket.once('connect', onConnect).once('error', fail)
  })
}

const timedOut = (): Error =>
  Object.assign(new Error('it did not respond in time'), { code: 'ETIMEDOUT' as const })
