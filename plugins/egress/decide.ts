import { parseAddress } from '../../src/net/address.ts'
import { embeddedIpv4, KIND_WORDS, kindOf } from '../../src/net/special-addresses.ts'
import type { Decision, Destination, Resolve, Rule } from './decision.ts'
import { type Host, parseHost } from './parse-host.ts'
import type { Policy } from './policy.ts'

/** Names under which engines show the host to containers. */
export const GATEWAY_NAMES: ReadonlySet<string> = new Set([
  'host.docker.internal',
  'gateway.docker.internal',
  'kubernetes.docker.internal',
  'host.containers.internal',
  'host.lima.internal',
])

/** What the decision needs besides the policy. */
export interface World {
  readonly resolve: Resolve
  /** Addresses of the machine the proxy runs on. */
  readonly ownAddresses: () => ReadonlySet<string>
  readonly signal?: AbortSignal | undefined
}

type Answer = Omit<Decision, 'host' | 'port' | 'addresses'>
type Valid = Exclude<Host, { kind: 'invalid' }>

/**
 * Says whether a workload may connect to a destination, and where exactly to.
 *
 * A name is judged before it is looked up, so a denied name never reaches a name server. Then every
 * address is judged; one that may not be reached denies the name. Only the returned addresses may
 * be connected to, since a second look-up could return others.
 */
export async function decide(policy: Policy, destination: Destination, world: World): Promise<Decision> {
  const { port } = destination
  const host = parseHost(destination.host)
  if (host.kind === 'invalid') {
    const reason = `${quote(destination.host)} is not a host: ${host.problem}`
    return {
      allowed: false,
      rule: 'host_invalid',
      reason,
      host: printable(destination.host),
      port,
      addresses: [],
    }
  }
  const about = { host: host.text, port }
  const isGateway = isGatewayHost(policy, host)
  const first = isGateway ? judgeGateway(policy) : judgeHost(policy, host, port)
  const literal = host.kind === 'address' ? [host.text] : []
  if (!first.allowed) return { ...first, ...about, addresses: literal }

  const addresses = host.kind === 'address' ? literal : await addressesOf(policy, host.text, isGateway, world)
  if (addresses.length === 0) {
    const reason = `no address was found for ${host.text}`
    return { allowed: false, rule: 'unresolvable', reason, ...about, addresses: [] }
  }
  for (const address of addresses) {
    const problem = judgeAddress(policy, { host, port, address, isGateway }, world)
    if (problem) return { ...problem, ...about, addresses }
  }
  return { ...first, ...about, addresses }
}

function isGatewayHost(policy: Policy, host: Valid): boolean {
  return host.kind === 'name' ? GATEWAY_NAMES.has(host.text) : isGatewayAddress(policy, host.text)
}

/** Compares addresses in every form: `64:ff9b::172.17.0.1` is the host 172.17.0.1. */
const isGatewayAddress = (policy: Policy, address: string): boolean =>
  formsOf(address).some(form => policy.gateways.has(form))

function formsOf(text: string): string[] {
  const address = parseAddress(text)
  return address ? [address.text, ...embeddedIpv4(address).map(inner => inner.text)] : []
}

/** The gateway has a switch of its own, which neither lists nor `insecure_allow_all` replace. */
function judgeGateway(policy: Policy): Answer {
  if (policy.allowGateway) {
    return { allowed: true, rule: 'allow_docker_gateway', reason: '--allow-docker-gateway allows it' }
  }
  return {
    allowed: false,
    rule: 'gateway',
    reason: 'it is the gateway of the container runtime, i.e. this host',
    add: ['--allow-docker-gateway'],
  }
}

/** What the profile says of the host and port as they were asked for. */
function judgeHost(policy: Policy, host: Valid, port: number): Answer {
  if (policy.allowAll) {
    if (!policy.fromProfile) {
      const reason = 'there is no permission profile, and the default allows everything public'
      return { allowed: true, rule: 'insecure_allow_all', reason }
    }
    const member = 'network.outbound.insecure_allow_all'
    return { allowed: true, rule: 'insecure_allow_all', member, reason: `${member} allows everything public` }
  }
  const { allowHost, limitsHosts, limitsPorts } = policy
  if (!limitsHosts && !limitsPorts) {
    const reason = 'the permission profile allows no destination at all'
    return { allowed: false, rule: 'nothing_allowed', reason, add: linesFor(policy, host.text, port) }
  }
  const hostIndex = findHost(policy, host)
  if (limitsHosts && hostIndex === undefined) {
    const reason = `${host.text} is not in allow_host of the permission profile`
    return { allowed: false, rule: 'not_in_allow_host', reason, add: linesFor(policy, host.text, port) }
  }
  const portIndex = policy.ports.get(port)
  if (limitsPorts && portIndex === undefined) {
    const reason = `port ${port} is not in allow_port of the permission profile`
    return { allowed: false, rule: 'not_in_allow_port', reason, add: linesFor(policy, undefined, port) }
  }
  if (hostIndex === undefined) {
    const member = `network.outbound.allow_port[${portIndex}]`
    return { allowed: true, rule: 'allow_port', member, reason: `${member} allows port ${port} of any host` }
  }
  const member = `network.outbound.allow_host[${hostIndex}]`
  const reason = `${member} (${quote(allowHost[hostIndex] ?? '')}) allows it`
  return { allowed: true, rule: 'allow_host', member, reason }
}

/** Index of the entry that allows the host: an exact one before a domain. */
function findHost(policy: Policy, host: Valid): number | undefined {
  if (host.kind === 'address') return policy.addresses.get(host.text)
  return (
    policy.names.get(host.text) ??
    policy.suffixes.find(({ suffix }) => `.${host.text}`.endsWith(suffix))?.index
  )
}

async function addressesOf(
  policy: Policy,
  name: string,
  isGateway: boolean,
  world: World,
): Promise<readonly string[]> {
  if (isGateway && policy.gateways.size > 0) return [...policy.gateways]
  if (/(?:^|\.)localhost$/.test(name)) return ['127.0.0.1'] // RFC 6761 section 6.3: no look-up
  const found = await world.resolve(name, world.signal).catch(() => [])
  return found.map(text => parseAddress(text)?.text ?? text) // anything but an address is denied later, with that reason
}

/** Why an address may not be connected to, though the host it belongs to is allowed. */
function judgeAddress(
  policy: Policy,
  asked: { host: Valid; port: number; address: string; isGateway: boolean },
  world: World,
): Answer | undefined {
  const { host, port, address, isGateway } = asked
  const parsed = parseAddress(address)
  if (!parsed) return { allowed: false, rule: 'host_invalid', reason: `${quote(address)} is not an address` }
  const kind = kindOf(parsed)
  // The host may have any address on the runtime's networks, but never that of a metadata service.
  if (isGateway) return kind === 'metadata' ? denied(host, address, kind, KIND_WORDS[kind], []) : undefined
  if (isGatewayAddress(policy, address)) {
    if (policy.allowGateway) return undefined
    return denied(host, address, 'gateway', 'the gateway of the container runtime, i.e. this host', [
      '--allow-docker-gateway',
    ])
  }
  const own = world.ownAddresses()
  const isOwn = formsOf(address).some(form => own.has(form))
  if (!kind && !isOwn) return undefined
  const listed = policy.addresses.has(address) && (!policy.limitsPorts || policy.ports.has(port))
  if (listed) return undefined
  const words = kind ? KIND_WORDS[kind] : 'an address of this host'
  return denied(host, address, kind ?? 'own_address', words, linesFor(policy, address, port))
}

function denied(host: Valid, address: string, rule: Rule, words: string, add: readonly string[]): Answer {
  const what = host.kind === 'name' ? `${host.text} resolves to ${address}` : address
  const reason = `${what}${host.kind === 'name' ? ', ' : ' is '}${words}`
  return { allowed: false, rule, reason, ...(add.length ? { add } : {}) }
}

/** The lists of `network.outbound` as they would have to read; those that need no change are left out. */
export function listsFor(
  policy: Policy,
  host: string | undefined,
  port: number,
): { allow_host?: string[]; allow_port?: number[] } {
  const { allowAll, allowHost, allowPort, limitsHosts, limitsPorts } = policy
  const isOpenToPorts = !limitsPorts && (allowAll || limitsHosts)
  const needsPort = !isOpenToPorts && !policy.ports.has(port)
  const needsHost = host !== undefined && !policy.addresses.has(host) && !policy.names.has(host)
  return {
    ...(needsHost ? { allow_host: [...allowHost, host] } : {}),
    ...(needsPort ? { allow_port: [...allowPort, port] } : {}),
  }
}

const linesFor = (policy: Policy, host: string | undefined, port: number): string[] =>
  Object.entries(listsFor(policy, host, port)).map(
    ([member, list]) => `${JSON.stringify(member)}: ${JSON.stringify(list)}`,
  )

/** A foreign text inside a sentence. */
const quote = (text: string): string => JSON.stringify(printable(text))

/** On one line, unable to steer a terminal, and not endless. */
const printable = (text: string): string => text.slice(0, 260).replace(/[\p{C}\p{Z}]/gu, '?')
