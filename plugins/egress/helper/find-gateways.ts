import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { GATEWAY_NAMES } from '../decide.ts'
import type { Resolve } from '../decision.ts'

/** Time limit of a look-up in milliseconds. The engine resolves its own names at once; no other server is waited for. */
const NAMED_MS = 1000

/**
 * Finds the addresses at which the helper's container reaches the host of its engine: those of the engine's names
 * for it, and the next hop of the default route.
 */
export async function findGateways(resolve: Resolve): Promise<readonly string[]> {
  const named = await Promise.all(
    [...GATEWAY_NAMES].map(name => Promise.race([resolve(name).catch(() => []), delay(NAMED_MS, [])])),
  )
  // proc(5): destination and next hop as little-endian hexadecimal in fields 2 and 3.
  const routes = await readFile('/proc/net/route', 'utf8').catch(() => '')
  const hops = routes.split('\n').flatMap(line => {
    const [, destination, hop] = line.split('\t')
    return destination === '00000000' && hop ? [toAddress(hop)] : []
  })
  return [...new Set([...named.flat(), ...hops])]
}

const toAddress = (hex: string): string => [...Buffer.from(hex, 'hex').reverse()].join('.')
