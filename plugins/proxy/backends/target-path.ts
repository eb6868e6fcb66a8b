import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { effectiveMode } from '../section.ts'

/** Where the requests for a server go: worked out once, so that a request needs no URL parsing. */
export interface TargetPath {
  /** Scheme, host and port. */
  readonly origin: string
  /** `host[:port]`. */
  readonly host: string
  readonly scheme: 'http' | 'https'
  /** Path and query for what a client asked. */
  pathFor(url: string): string
  /** The path of ours under which a path of the server is reached. */
  publicPath(path: string): string
}

/**
 * Local servers: the client's path after the target's own, if it has one.
 *
 * Remote ones: a streamable server has one endpoint, so its path stands for whatever was asked. An SSE
 * server has more (where messages go is announced), so only `/sse` stands for its own path. The query of the
 * remote URL is put before the client's; it is ours and never shown to clients.
 */
export function createTargetPath(
  target: URL,
  config: RunConfig,
  { remote }: { remote: boolean },
): TargetPath {
  const base = target.pathname.replace(/\/+$/, '')
  const query = target.search.slice(1)
  const single = remote && !config.remote_keeps_paths && effectiveMode(config) === 'streamable-http'
  const endpoint = target.pathname

  function withQuery(path: string, own: string): string {
    const both = query && own && !own.startsWith(query) ? `${query}&${own}` : own || query
    return both ? `${path}?${both}` : path
  }

  return {
    origin: target.origin,
    host: target.host,
    scheme: target.protocol === 'https:' ? 'https' : 'http',
    pathFor(url) {
      if (!remote) return query ? withQuery(base + pathOf(url), queryOf(url)) : base ? base + url : url
      if (single) return withQuery(endpoint, queryOf(url))
      const asked = pathOf(url)
      return withQuery(asked === '/sse' && base ? endpoint : asked, queryOf(url))
    },
    publicPath: path => (!remote && base && path.startsWith(`${base}/`) ? path.slice(base.length) : path),
  }
}

const pathOf = (url: string): string => url.split('?', 1)[0] as string
const queryOf = (url: string): string => {
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at + 1)
}
