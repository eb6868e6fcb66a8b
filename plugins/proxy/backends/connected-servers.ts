import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { effectiveMode } from '../section.ts'
import type { SessionOwner } from '../session-owner.ts'
import { createSlots, type Slots } from '../slots.ts'
import { BackendGone } from './gateway-error.ts'
import type { Cancel } from './relay-http.ts'
import { createTargetPath, type TargetPath } from './target-path.ts'
import { untilDrained } from './until-drained.ts'

/** One of the servers that are connected one after another, and the requests in flight at it. */
export interface ConnectedServer {
  readonly target: TargetPath
  /** Counts the servers of this proxy. */
  readonly epoch: number
  readonly calls: Slots<Cancel>
  /** Streams that only listen: they would never end by themselves. */
  readonly streams: Slots<Cancel>
}

/** An event stream to which events of ours can be added. */
export interface OpenStream {
  /** Adds a message (raw text); absent while the stream passes as bytes. */
  send?: ((text: string) => void) | undefined
}

/** A stream that has announced an endpoint. */
interface Announcing {
  readonly server: ConnectedServer
  readonly owner: SessionOwner
  readonly stream: OpenStream | undefined
}

export interface ConnectedServers {
  readonly current: ConnectedServer | undefined
  /** The server for a request: the one whose SSE stream announced the endpoint, else the current one. */
  serverFor(url: string): ConnectedServer | undefined
  /**
   * Whether a caller may send messages to this URL of an SSE server: only the caller whose stream announced it, as long
   * as that is open. Who has not logged in may also send to URLs that no stream has announced.
   */
  isEndpointOf(url: string, owner: SessionOwner): boolean
  /** Remembers that a stream announced this endpoint, as clients see it. */
  addEndpoint(endpoint: string, stream: Announcing): void
  /** The open stream that announced this endpoint to this owner. */
  streamOf(url: string, owner: SessionOwner): OpenStream | undefined
  /** Forgets it when the stream has ended. */
  removeEndpoint(endpoint: string, server: ConnectedServer): void
  connect(target: URL): void
  /** As `HttpBackend.replace`. */
  replace(target: URL, options: { graceMs: number; signal: AbortSignal }): Promise<void>
  disconnect(reason: string): void
}

export function createConnectedServers(config: RunConfig, { remote }: { remote: boolean }): ConnectedServers {
  const sse = effectiveMode(config) === 'sse'
  const endpoints = new Map<string, Announcing>()
  let current: ConnectedServer | undefined
  let epoch = 0

  function connect(url: URL): void {
    epoch++
    const target = createTargetPath(url, config, { remote })
    current = { target, epoch, calls: createSlots(), streams: createSlots() }
  }

  return {
    get current() {
      return current
    },
    serverFor: url => (sse && endpoints.get(endpointKey(url))?.server) || current,
    isEndpointOf(url, owner) {
      const known = endpoints.get(endpointKey(url))
      return known ? known.owner === owner : owner === undefined
    },
    addEndpoint(endpoint, stream) {
      const key = endpointKey(endpoint)
      const known = endpoints.get(key)
      if (!known || known.owner === stream.owner) endpoints.set(key, stream)
    },
    streamOf(url, owner) {
      const known = endpoints.get(endpointKey(url))
      return known?.owner === owner ? known?.stream : undefined
    },
    removeEndpoint(endpoint, server) {
      const key = endpointKey(endpoint)
      if (endpoints.get(key)?.server === server) endpoints.delete(key)
    },
    connect,
    async replace(url, patience) {
      const before = current
      connect(url)
      if (!before) return
      // Responses of an SSE server come on its streams, so these stay open for a while.
      const isOver = () => before.calls.size === 0 && (!sse || before.streams.size === 0)
      await untilDrained(isOver, patience)
      cancelAll(before, 'it was replaced')
    },
    disconnect(reason) {
      if (current) cancelAll(current, reason)
      current = undefined
    },
  }
}

function cancelAll({ calls, streams }: ConnectedServer, reason: string): void {
  for (const cancel of [...calls.values(), ...streams.values()]) cancel(new BackendGone(reason))
}

/** The part of an endpoint that names its session: the query, else the path without an origin. */
function endpointKey(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '') : url.slice(at)
}
