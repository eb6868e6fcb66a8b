import { parseAddress } from '../../src/net/address.ts'
import { KIND_WORDS, kindOf } from '../../src/net/address-kind.ts'
import { createOwnAddresses } from '../../src/net/own-addresses.ts'
import { parseHostPattern } from './policy.ts'

const ownAddresses = createOwnAddresses()

/**
 * Last labels of names that mean something different on each machine or network: RFC 6761, 6762
 * (with appendix G) and 8375, ICANN's `internal`, and what routers and clusters use.
 */
const LOCAL = new Set([
  ...['localhost', 'localdomain', 'local', 'internal', 'intranet', 'private', 'corp', 'home', 'lan', 'test'],
  ...['svc', 'docker', 'home.arpa'],
])

/**
 * Says why a host cannot be on the public internet; undefined when it can. Also takes an entry of `allow_host`,
 * such as a domain with its subdomains. Addresses are judged as in `isPublicAddress`. Nothing is resolved: a
 * public name may still resolve to a private address, which the egress proxy checks when it connects.
 */
export function publicHostProblem(entry: string): string | undefined {
  const host = parseHostPattern(entry)
  if (host.kind === 'invalid') return host.problem
  if (host.kind === 'address') {
    const address = parseAddress(host.text)
    const kind = address && kindOf(address)
    if (kind) return `it is ${KIND_WORDS[kind]}`
    return ownAddresses().has(host.text) ? 'it is an address of this machine' : undefined
  }
  const labels = host.text.split('.').filter(Boolean)
  if (LOCAL.has(labels.at(-1) ?? '') || LOCAL.has(labels.slice(-2).join('.'))) {
    return 'it is a name for something on this machine or its network'
  }
  const isDomain = labels.length > 1 || host.kind === 'suffix'
  return isDomain ? undefined : 'a name without a dot is a name on this network'
}
