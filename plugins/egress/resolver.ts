import { Resolver } from 'node:dns/promises'
import { readFile, stat } from 'node:fs/promises'
import { parseAddress } from '../../src/net/address.ts'
import type { Resolve } from './decision.ts'
import { parseHost } from './parse-host.ts'

const MAX_KEPT = 1000
const MAX_KEPT_MS = 60_000
const MISSING_KEPT_MS = 3000

interface Kept {
  readonly until: number
  readonly addresses: Promise<readonly string[]>
}

/**
 * Looks names up as this machine does: in the hosts file, then at its name servers.
 *
 * Not `dns.lookup`: that blocks one of four threads of the whole process for as long as a name
 * server does not respond, and a workload could cause that at will. Records are kept for their time to live,
 * at most a minute. Callers at the same time share one look-up.
 */
export function createResolver(
  options: { servers?: readonly string[]; hostsFile?: string; now?: () => number } = {},
): Resolve {
  const { hostsFile = '/etc/hosts', now = Date.now } = options
  const resolver = new Resolver({ timeout: 2000, tries: 2 })
  if (options.servers) resolver.setServers(options.servers)
  const hosts = createHosts(hostsFile)
  const kept = new Map<string, Kept>()

  async function lookUp(name: string): Promise<readonly string[]> {
    const fromFile = (await hosts()).get(name)
    if (fromFile) return fromFile
    const results = await Promise.allSettled([
      resolver.resolve4(name, { ttl: true }),
      resolver.resolve6(name, { ttl: true }),
    ])
    const records = results.flatMap(result => (result.status === 'fulfilled' ? result.value : []))
    const seconds = Math.min(...records.map(record => record.ttl))
    const ms = records.length ? Math.min(seconds * 1000, MAX_KEPT_MS) : MISSING_KEPT_MS
    keep(name, Promise.resolve(records.map(record => record.address)), ms)
    return records.map(record => record.address)
  }

  function keep(name: string, addresses: Promise<readonly string[]>, ms: number): void {
    kept.delete(name)
    kept.set(name, { addresses, until: now() + ms })
    const [oldest] = kept.keys()
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest)
  }

  return async name => {
    const known = kept.get(name)
    if (known && known.until > now()) return known.addresses
    const addresses = lookUp(name)
    keep(name, addresses, MISSING_KEPT_MS)
    return addresses
  }
}

/** Reads the hosts file (hosts(5)) anew when it has changed. */
function createHosts(path: string): () => Promise<ReadonlyMap<string, readonly string[]>> {
  let known: { changed: number; names: ReadonlyMap<string, readonly string[]> } | undefined
  return async () => {
    const changed = await stat(path).then(
      stats => stats.mtimeMs,
      () => 0,
    )
    if (known?.changed === changed) return known.names
    const names = parseHosts(changed ? await readFile(path, 'utf8').catch(() => '') : '')
    known = { changed, names }
    return names
  }
}

function parseHosts(text: string): Map<string, string[]> {
  const names = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [first = '', ...rest] = line.replace(/#.*$/, '').trim().split(/\s+/)
    const address = parseAddress(first)
    if (!address) continue
    for (const alias of rest) {
      const host = parseHost(alias)
      if (host.kind === 'name') names.set(host.text, [...(names.get(host.text) ?? []), address.text])
    }
  }
  return names
}
