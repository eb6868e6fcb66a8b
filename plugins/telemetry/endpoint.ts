import { failures } from './failures.ts'

/** Where a collector takes traces and metrics. */
export interface Endpoint {
  /** With the path that `/v1/traces` is appended to, without a slash at the end. */
  readonly base: string
}

/**
 * Reads `HOST:PORT` with an optional scheme and path. Without a scheme `insecure` decides between HTTP and HTTPS. Fails
 * with `telemetry_invalid`.
 */
export function parseEndpoint(said: string, { insecure }: { insecure: boolean }): Endpoint {
  const wrong = (problem: string) => failures.telemetry_invalid({ problem })
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(said)?.[1]?.toLowerCase()
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https') {
    throw wrong(`the endpoint has the scheme "${scheme}", and OTLP is sent over http or https`)
  }
  if (scheme === 'https' && insecure) {
    throw wrong('the endpoint begins with https:// and is to be reached insecurely (--otel-insecure)')
  }
  const isPlain = scheme === 'http' || insecure
  const rest = scheme === undefined ? said : said.slice(scheme.length + 3)
  const url = URL.parse(`${isPlain ? 'http' : 'https'}://${rest}`)
  const isPlace =
    url?.hostname && !url.username && !url.password && !url.search && !url.hash && !/\s/.test(rest)
  if (!isPlace) throw wrong('the endpoint is not HOST:PORT with an optional path')
  return { base: `${url.origin}${url.pathname.replace(/\/+$/, '')}` }
}
