import type { IncomingHttpHeaders } from 'node:http'

export const MAX_REDIRECTS = 10
const FOLLOWED = new Set([301, 302, 307, 308])

/**
 * Where a redirect of the server leads that the proxy follows by itself; undefined: the client shall see it.
 *
 * Only within one host and never from https to http, so that no header meant for one server reaches another.
 */
export function followable(
  status: number,
  headers: IncomingHttpHeaders,
  from: { origin: string; path: string },
): { origin: string; path: string } | undefined {
  const { location } = headers
  if (!FOLLOWED.has(status) || typeof location !== 'string') return undefined
  // Joined as text: a path such as `//other.example/` would else be read as another host.
  const current = URL.parse(`${from.origin}${from.path}`)
  const next = current && URL.parse(location, current.href)
  if (!next || !current || next.host !== current.host || !/^https?:$/.test(next.protocol)) return undefined
  if (current.protocol === 'https:' && next.protocol === 'http:') return undefined
  return { origin: next.origin, path: `${next.pathname}${next.search}` }
}
