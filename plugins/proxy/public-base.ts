import type { IncomingMessage } from 'node:http'
import type { RunConfig } from '../../src/contracts/run-config.ts'

const first = (header: string | string[] | undefined): string | undefined =>
  (Array.isArray(header) ? header[0] : header)?.split(',')[0]?.trim() || undefined

/** The host that a trusted proxy in front was asked for; undefined where none is trusted or says. */
export const forwardedHostOf = (
  request: Pick<IncomingMessage, 'headers'>,
  config: RunConfig,
): string | undefined => (config.trust_proxy_headers ? first(request.headers['x-forwarded-host']) : undefined)

/** How a client reaches us, as far as configuration or a trusted proxy in front says so. */
export interface PublicBase {
  /** `scheme://host[:port]`; undefined when nothing trusted names one. */
  readonly origin: string | undefined
  /** Path before ours, without a slash at its end; empty when there is none. */
  readonly prefix: string
}

const trimPrefix = (prefix: string): string => prefix.replace(/\/+$/, '').replace(/\/sse$/, '')

/** Reads what is configured (`endpoint_prefix`) before what a trusted proxy in front says (`X-Forwarded-*`). */
export function publicBaseOf(request: IncomingMessage, config: RunConfig): PublicBase {
  const { headers } = request
  const trust = config.trust_proxy_headers === true
  const forwardedPrefix = trust ? first(headers['x-forwarded-prefix']) : undefined
  const prefix = trimPrefix(
    config.endpoint_prefix || (forwardedPrefix?.startsWith('/') ? forwardedPrefix : ''),
  )
  if (!trust) return { origin: undefined, prefix }

  const scheme = first(headers['x-forwarded-proto'])
  const named = forwardedHostOf(request, config)
  if (!named && !scheme) return { origin: undefined, prefix }
  const port = first(headers['x-forwarded-port'])
  const host = named ?? headers.host ?? 'localhost'
  const safeScheme = scheme === 'https' ? 'https' : 'http'
  const standard = safeScheme === 'https' ? '443' : '80'
  const addPort = port !== undefined && /^\d+$/.test(port) && port !== standard && !/:\d+$/.test(host)
  const origin = `${safeScheme}://${host}${addPort ? `:${port}` : ''}`
  return { origin: URL.canParse(origin) ? origin : undefined, prefix }
}

/** The same as one absolute URL without a slash at its end, for endpoints that must be absolute. */
export function absoluteBase(request: IncomingMessage, config: RunConfig): string {
  const { origin, prefix } = publicBaseOf(request, config)
  const { localAddress, localPort } = request.socket
  return `${origin ?? `http://${request.headers.host ?? `${localAddress}:${localPort}`}`}${prefix}`
}
