import { once } from 'node:events'
import { type AddressInfo, connect, createServer, isIP, type Socket } from 'node:net'
import { FetchProblem, toProblem } from '../../../src/net/fetch-problem.ts'
import { guardedLookup } from '../../../src/net/guarded-lookup.ts'
import { createPeerOwners } from '../../../src/net/peer-owner.ts'
import { publicAddressProblem } from '../../../src/net/public-address-problem.ts'
import { connectThrough } from './connect-through.ts'
import { readExactly } from './read-exactly.ts'

/** The proxy of one git process. */
export interface GitTunnel {
  /** The value of git's `http.proxy`. */
  readonly proxy: string
  /** Returns why a connection was refused or ended; undefined when none was. */
  problem(): FetchProblem | undefined
  close(): Promise<void>
}

export interface TunnelOptions {
  readonly host: string
  readonly port: number
  /** Whether the host may be on this machine or in a private network. */
  readonly allowPrivate: boolean
  /** Most bytes that all connections together receive. */
  readonly maxBytes: number
  /** An HTTP proxy to connect through. It resolves names and decides where they may lead. */
  readonly via?: URL | undefined
  readonly connectTimeoutMs?: number
}

/** SOCKS version 5 (RFC 1928): replies to a request. */
const GRANTED = 0
const NOT_ALLOWED = 2
const UNREACHABLE = 4

/**
 * Starts a SOCKS proxy on loopback through which git reaches only one host and port. It refuses redirects to
 * other hosts, and names that resolve to a private address. It checks the very address that it connects
 * to, so a name that resolves differently a second time is refused too.
 */
export async function openGitTunnel(options: TunnelOptions): Promise<GitTunnel> {
  const sockets = new Set<Socket>()
  let received = 0
  let problem: FetchProblem | undefined
  const owners = createPeerOwners()

  function track(socket: Socket): Socket {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    return socket
  }

  async function serve(client: Socket): Promise<void> {
    if (owners && !(await owners.isOurs(client))) throw new Error('another user of this machine')
    const [version, methods = 0] = await readExactly(client, 2)
    if (version !== 5) throw new Error('not SOCKS')
    await readExactly(client, methods)
    client.write(Buffer.from([5, 0]))
    const wanted = await readRequest(client)
    const answer = (reply: number) => client.write(Buffer.from([5, reply, 0, 1, 0, 0, 0, 0, 0, 0]))
    try {
      const upstream = await connectUpstream(wanted)
      answer(GRANTED)
      joinSockets(client, upstream)
    } catch (error) {
      problem = toProblem(error, new URL(`https://${options.host}:${options.port}`), undefined)
      answer(problem.kind === 'private' || problem.kind === 'redirect' ? NOT_ALLOWED : UNREACHABLE)
      client.end()
    }
  }

  async function connectUpstream({ host, port }: { host: string; port: number }): Promise<Socket> {
    if (host !== options.host || port !== options.port) {
      throw new FetchProblem('redirect', `it redirects to another host (${host})`)
    }
    if (!options.allowPrivate && isIP(host) && publicAddressProblem(host)) {
      throw new FetchProblem('private', `${host} is a private address`)
    }
    const late = AbortSignal.timeout(options.connectTimeoutMs ?? 10_000)
    try {
      const target = { host, port }
      return track(
        await (options.via
          ? connectThrough(options.via, target, late)
          : connectTo(target, { allowPrivate: options.allowPrivate, late })),
      )
    } catch (error) {
      throw late.aborted ? new FetchProblem('timeout', `${host} does not take the connection`) : error
    }
  }

  function joinSockets(client: Socket, upstream: Socket): void {
    upstream.on('data', (chunk: Buffer) => {
      received += chunk.length
      if (received <= options.maxBytes) return
      problem = new FetchProblem('too_large', `it sends more than ${options.maxBytes / 1024 / 1024} MiB`)
      client.destroy()
    })
    upstream.pipe(client)
    client.pipe(upstream)
    upstream.on('close', () => client.destroy())
    client.on('close', () => upstream.destroy())
  }

  const server = createServer(client => {
    track(client)
    serve(client).catch(() => client.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    proxy: `socks5h://127.0.0.1:${(server.address() as AddressInfo).port}`,
    problem: () => problem,
    async close() {
      const closed = new Promise(resolve => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

async function connectTo(
  target: { host: string; port: number },
  { allowPrivate, late }: { allowPrivate: boolean; late: AbortSignal },
): Promise<Socket> {
  const socket = connect({ ...target, lookup: guardedLookup(allowPrivate) })
  try {
    // The signal ends only the attempt to connect; the socket would also close on it later.
    await once(socket, 'connect', { signal: late })
    return socket
  } catch (error) {
    socket.on('error', () => undefined).destroy()
    throw error
  }
}

/** Reads a request to connect. The host is spelled as in URLs. */
async function readRequest(client: Socket): Promise<{ host: string; port: number }> {
  const [, command, , kind] = await readExactly(client, 4)
  if (command !== 1) throw new Error('only connections are made')
  const host = await readHost(client, kind)
  return { host, port: (await readExactly(client, 2)).readUInt16BE() }
}

async function readHost(client: Socket, kind: number | undefined): Promise<string> {
  if (kind === 1) return (await readExactly(client, 4)).join('.')
  if (kind === 3) {
    const [length = 0] = await readExactly(client, 1)
    return (await readExactly(client, length)).toString('latin1').toLowerCase()
  }
  const groups = (await readExactly(client, 16)).toString('hex').match(/.{4}/g) ?? []
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}
