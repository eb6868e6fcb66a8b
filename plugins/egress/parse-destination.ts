import type { Destination } from './decision.ts'
import { failures } from './failures.ts'

const PORTS: Readonly<Record<string, number>> = { http: 80, ws: 80, https: 443, wss: 443 }

/**
 * Reads what `explain` is asked about: a URL, `HOST:PORT`, or a host alone (which means https).
 * The host is kept as it was written, since the result shows how it is read.
 */
export function parseDestination(text: string): Destination {
  const wrong = (problem: string) => failures.explain_url_unreadable({ problem })
  const [, scheme = 'https', authority = ''] =
    /^(?:([a-z][a-z0-9+.-]*):\/\/)?([^/?#]*)/i.exec(text.trim()) ?? []
  if (authority.includes('@')) throw wrong('it holds user information, which plays no part here')
  const match = /^(\[[^\]]*\]|[^:[\]]+)(?::(\d*))?$/.exec(authority)
  if (!match?.[1]) throw wrong('it names no host')
  const port = match[2] ? Number(match[2]) : PORTS[scheme.toLowerCase()]
  if (port === undefined) throw wrong(`the scheme "${scheme}" has no port of its own here; write one`)
  if (port < 1 || port > 65535) throw wrong(`there is no port ${port}`)
  return { host: match[1], port }
}
