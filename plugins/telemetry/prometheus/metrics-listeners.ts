import { createServer, type RequestListener, type Server } from 'node:http'
import { messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import { hostNameOf, isMachineName } from '../../../src/net/host-names.ts'
import type { ScrapeReader } from '../metrics/scrape-reader.ts'

/** The metrics of one workload. */
export interface MetricsSource {
  readonly workload: string
  readonly reader: ScrapeReader
}

/** Listeners on this machine that serve `/metrics`. Workloads that name the same port share one. */
export interface MetricsListeners {
  /**
   * Serves the metrics until the returned function is called. A port that is taken is logged and tried again: metrics
   * never keep a workload from starting.
   */
  add(port: number, source: MetricsSource, log: Log): () => void
}

const HOST = '127.0.0.1'
const RETRY_MS = 10_000
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 120_000,
  maxHeaderSize: 16_384,
}
const MOST_CONNECTIONS = 100

interface Listener {
  readonly sources: Set<MetricsSource>
  close(): void
}

export function createMetricsListeners(): MetricsListeners {
  const listeners = new Map<number, Listener>()
  return {
    add(port, source, log) {
      const listener = listeners.get(port) ?? openListener(port, log)
      listeners.set(port, listener)
      listener.sources.add(source)
      return () => {
        listener.sources.delete(source)
        if (listener.sources.size) return
        listeners.delete(port)
        listener.close()
      }
    },
  }
}

function openListener(port: number, log: Log): Listener {
  const sources = new Set<MetricsSource>()
  const server = createServer(LIMITS, respondWith(sources))
  server.maxConnections = MOST_CONNECTIONS
  let retry: NodeJS.Timeout | undefined
  let isWarned = false
  server.on('error', error => {
    if (!isWarned)
      log.warn(`Metrics cannot be served on port ${port}: ${messageOf(error)}. It is tried again.`)
    isWarned = true
    retry = setTimeout(() => listen(server, port), RETRY_MS).unref()
  })
  listen(server, port)
  return {
    sources,
    close() {
      clearTimeout(retry)
      server.close()
      server.closeAllConnections()
    },
  }
}

const listen = (server: Server, port: number) => server.listen({ host: HOST, port, exclusive: true }).unref()

const respondWith =
  (sources: ReadonlySet<MetricsSource>): RequestListener =>
  async ({ method, url = '', headers }, response) => {
    const refuse = (status: number, text: string) =>
      response.writeHead(status, { 'content-type': 'text/plain' }).end(text)
    // A page that DNS rebound to this machine sends its own name.
    if (headers.host !== undefined && !isMachineName(hostNameOf(headers.host), HOST)) {
      return refuse(403, 'Host not allowed')
    }
    if (url.split('?', 1)[0] !== '/metrics') return refuse(404, 'Not found')
    if (method !== 'GET' && method !== 'HEAD') return refuse(405, 'Method not allowed')
    try {
      const { PROMETHEUS_TYPE, toPrometheusText } = await import('./to-text.ts')
      const scopes = await Promise.all(oncePerWorkload(sources).map(({ reader }) => reader.scrape()))
      response.writeHead(200, { 'content-type': PROMETHEUS_TYPE }).end(toPrometheusText(scopes.flat()))
    } catch {
      refuse(503, 'No metrics now')
    }
  }

/** During an upgrade a workload has two proxies, whose series would have the same labels: the first counts. */
function oncePerWorkload(sources: ReadonlySet<MetricsSource>): MetricsSource[] {
  const found = new Map<string, MetricsSource>()
  for (const source of sources) if (!found.has(source.workload)) found.set(source.workload, source)
  return [...found.values()]
}
