import { isIP } from 'node:net'
import { hostname } from 'node:os'

/** The name in a `Host` header, in lower case and without the port. */
export const hostNameOf = (host: string): string => host.toLowerCase().replace(/:\d*$/, '')

/** Whether a name is `localhost`, the address listened on, the name of this machine or a bare address: no DNS is asked for it. */
export const isMachineName = (name: string, listenerHost: string): boolean =>
  name === 'localhost' ||
  name === listenerHost.toLowerCase() ||
  name === hostname().toLowerCase() ||
  isIP(name.replace(/^\[|\]$/g, '')) > 0

/** An origin in one spelling: scheme and host in lower case, the port as written; undefined when it is not an origin. */
export function canonicalOrigin(text: string): string | undefined {
  const parts = /^([a-z][a-z0-9+.-]*):\/\/([^/?#@\s,]+)(?:[/?#].*)?$/i.exec(text)
  return parts ? `${parts[1]}://${parts[2]}`.toLowerCase() : undefined
}

/** Whether an origin is the host that a request was sent to. The default port may be left out in either. */
export function isOriginOfHost(text: string, host: string): boolean {
  const [scheme, named] = canonicalOrigin(text)?.split('://') ?? []
  const port = scheme === 'https' ? /:443$/ : /:80$/
  return named !== undefined && host.toLowerCase().replace(port, '') === named.replace(port, '')
}
