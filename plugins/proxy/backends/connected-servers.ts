import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { effectiveMode } from '../section.ts'
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

export interface ConnectedServers {
  readonly current: ConnectedServer | undefined
  /** The server for a request: the one whose SSE stream announced the endpoint, else the current one. */
  serverFor(url: string): ConnectedServer | undefined
  /** Remembers that a server's stream announced this endpoint, as clients see it. */
  addEndpoint(endpoint: string, server: ConnectedServer): void
  /** Forgets it when the stream has ended. */
  removeEndpoint(endpoint: string, server: ConnectedServer): void
  connect(target: URL): void
  /** As `HttpBackend.replace`. */
  replace(target: URL, options: { graceMs: number; signal: AbortSignal }): Promise<void>
  disconnect(reason: string): void
}

export function createConnectedServers(config: RunConfig, { remote }: { remote: boolean }): ConnectedServers {
  const sse = effectiveMode(config) === 'sse'
  const endpoints = new Map<string, ConnectedServer>()
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
    serverFor: url => (sse && endpoints.get(endpointKey(url))) || current,
    addEndpoint: (endpoint, server) => void endpoints.set(endpointKey(endpoint), server),
    removeEndpoint(endpoint, server) {
      const key = endpointKey(endpoint)
      if (endpoints.get(key) === server) endpoints.delete(key)
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
