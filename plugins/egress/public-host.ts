import { publicAddressProblem } from '../../src/net/public-address-problem.ts'
import { parseHostPattern } from './policy.ts'

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
 * such as a domain with its subdomains. Nothing is resolved: a
 * public name may still resolve to a private address, which the egress proxy checks when it connects.
 */
export function publicHostProblem(entry: string): string | undefined {
  const host = parseHostPattern(entry)
  if (host.kind === 'invalid') return host.problem
  if (host.kind === 'address') return publicAddressProblem(host.text)
  const labels = host.text.split('.').filter(Boolean)
  if (LOCAL.has(labels.at(-1) ?? '') || LOCAL.has(labels.slice(-2).join('.'))) {
    return 'it is a name for something on this machine or its network'
  }
  const isDomain = labels.length > 1 || host.kind === 'suffix'
  return isDomain ? undefined : 'a name without a dot is a name on this network'
}
