import { createHash } from 'node:crypto'

/**
 * How the tools and prompts of several servers are named. `prefix`: the name of the server comes first. `on-clash`: only
 * names that two servers have get the prefix. `plain`: names stay; of two that are the same, the first server's counts.
 */
export const NAMINGS = ['prefix', 'on-clash', 'plain'] as const
export type Naming = (typeof NAMINGS)[number]

/** Clients and models take names of this length at least. */
const LONGEST = 64
const HASH_LENGTH = 8

/**
 * The name of a server joined with that of its tool or prompt.
 *
 * It depends on both alone, so that no other server can change it. Where characters have to be replaced, the name is
 * too long, or the name of the server contains the separator, a hash of both keeps it apart from others.
 */
export function prefixedName(server: string, name: string): string {
  const joined = `${server}_${name}`
  if (joined.length <= LONGEST && /^[\w-]+$/.test(joined) && !server.includes('_')) return joined
  const hash = createHash('sha256').update(`${server}\0${name}`).digest('hex').slice(0, HASH_LENGTH)
  return `${joined.replaceAll(/[^\w-]/g, '_').slice(0, LONGEST - HASH_LENGTH - 1)}_${hash}`
}

/** Something that a server offers by its name. */
export interface Named {
  readonly server: string
  readonly name: string
}

/**
 * The names under which clients see what several servers offer. What would have a name that is taken already is left
 * out: of servers in the given order, the first counts.
 */
export function namesOf<T extends Named>(offers: readonly T[], naming: Naming): Map<string, T> {
  const serversOf = new Map<string, Set<string>>()
  for (const { server, name } of offers) serversOf.set(name, (serversOf.get(name) ?? new Set()).add(server))
  const isPrefixed = ({ name }: Named) =>
    naming === 'prefix' || (naming === 'on-clash' && (serversOf.get(name)?.size ?? 0) > 1)
  const named = new Map<string, T>()
  for (const offer of offers) {
    const name = isPrefixed(offer) ? prefixedName(offer.server, offer.name) : offer.name
    if (!named.has(name)) named.set(name, offer)
  }
  return named
}
