import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { isLoopback } from '../net/loopback.ts'
import { httpFailures } from './failures.ts'

/** Where a server listens, as far as its callers' names for it go. */
export type ListensAt =
  | {
      readonly host: string /** Every request brings a token, which no page has. */
      readonly anyName?: boolean
    }
  | { readonly socket: string }

/**
 * Answers a check of `Host` and `Origin`, which throws for what a page of another site has sent.
 *
 * A page can be rebound to us by DNS, but then `Host` is its own name: only names that mean this machine
 * and bare addresses are taken. What a page of another origin sends by itself carries that `Origin`.
 */
export function createCallerGuard(listens: ListensAt): (headers: { host?: string; origin?: string }) => void {
  if ('socket' in listens) return () => undefined // no browser reaches it
  const names = new Set(['localhost', listens.host.toLowerCase()])
  const local = isLoopback(listens.host)
  if (!local) names.add(hostname().toLowerCase())

  const isOurs = (name: string): boolean => {
    if (listens.anyName || names.has(name)) return true
    const address = name.replace(/^\[|\]$/g, '')
    return local ? isLoopback(address) : isIP(address) > 0
  }

  return ({ host, origin }) => {
    if (host !== undefined && !isOurs(hostNameOf(host)))
      throw httpFailures.host_refused({ host: host.slice(0, 260) })
    if (origin === undefined) return
    const calling = URL.parse(origin)
    if (!calling || calling.host.toLowerCase() !== withoutDefaultPort(host, calling.protocol))
      throw httpFailures.origin_refused()
  }
}

const hostNameOf = (host: string): string => host.toLowerCase().replace(/:\d*$/, '')

const withoutDefaultPort = (host: string | undefined, protocol: string): string | undefined =>
  host?.toLowerCase().replace(protocol === 'https:' ? /:443$/ : /:80$/, '')
