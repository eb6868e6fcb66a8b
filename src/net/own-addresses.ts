import { networkInterfaces } from 'node:os'
import { parseAddress } from './address.ts'

const KEPT_MS = 2000

/**
 * The addresses of this machine, read again every two seconds, because networks come and go with workloads.
 */
export function createOwnAddresses(now: () => number = Date.now): () => ReadonlySet<string> {
  let known: { until: number; addresses: ReadonlySet<string> } | undefined
  return () => {
    if (!known || known.until <= now()) {
      const all = Object.values(networkInterfaces()).flatMap(list => list ?? [])
      const addresses = new Set(all.flatMap(entry => parseAddress(entry.address)?.text ?? []))
      known = { until: now() + KEPT_MS, addresses }
    }
    return known.addresses
  }
}
