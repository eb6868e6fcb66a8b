import type { RunConfig } from '../../src/contracts/run-config.ts'
import { canonicalOrigin, isOriginOfHost } from '../../src/net/host-names.ts'
import { isLoopback } from '../../src/net/loopback.ts'

/** Judges an `Origin` by the hosts that the request was sent to: `Host`, and `X-Forwarded-Host` where that is believed. */
export type OriginCheck = (origin: string, hosts: readonly string[]) => boolean

/**
 * Which origins may call: those that are listed, or else our own. On loopback these are the names of this
 * machine with our port; elsewhere the host that the request was sent to, which `Host` has been checked for.
 */
export function createOriginCheck(config: RunConfig, listener: { host: string; port: number }): OriginCheck {
  const listed = config.allowed_origins ?? []
  const own = isLoopback(listener.host)
    ? ['localhost', '127.0.0.1', '[::1]'].map(host => `http://${host}:${listener.port}`)
    : []
  const known = new Set((listed.length ? listed : own).map(canonicalOrigin))
  const isElsewhere = listed.length === 0 && own.length === 0
  return (text, hosts) => {
    // Several Origin headers arrive joined by a comma, which no origin holds.
    const origin = canonicalOrigin(text)
    if (origin === undefined) return false
    if (!isElsewhere) return known.has(origin)
    return hosts.some(host => isOriginOfHost(origin, host))
  }
}
