import type { PermissionProfile, RunConfig } from '../../src/contracts/run-config.ts'
import { parseHost } from './parse-host.ts'

/** What a workload may reach: the network section of a permission profile, ready to be asked. */
export interface Policy {
  /** Everything public may be reached. */
  readonly allowAll: boolean
  /** Whether a profile said so, or there is none. */
  readonly fromProfile: boolean
  /** Hosts as written, by what they allow; the value is the index in `allow_host`. */
  readonly names: ReadonlyMap<string, number>
  /** `.example.com`: the domain and all below it. */
  readonly suffixes: readonly { readonly suffix: string; readonly index: number }[]
  readonly addresses: ReadonlyMap<string, number>
  readonly ports: ReadonlyMap<number, number>
  /** Whether each list was given; one that was not, or is empty, sets no condition. */
  readonly limitsHosts: boolean
  readonly limitsPorts: boolean
  /** The lists as written, for messages. */
  readonly allowHost: readonly string[]
  readonly allowPort: readonly number[]
  readonly allowGateway: boolean
  /** Addresses of the engine's gateway, i.e. of the host as containers see it. */
  readonly gateways: ReadonlySet<string>
  /** What it was made from, to be made again elsewhere. */
  readonly source: { readonly profile: PermissionProfile | undefined; readonly options: PolicyOptions }
}

export interface PolicyOptions {
  /** `--allow-docker-gateway`. */
  readonly allowGateway?: boolean
  /** The gateway's addresses on the workload's network, as far as known. */
  readonly gateways?: readonly string[]
}

/**
 * Compiles a profile. Total: whatever the profile lacks is not allowed, and an entry that cannot be
 * read allows nothing (validation says so; this never throws).
 *
 * No profile at all means the built-in `network`. A profile without a network section, or with an
 * empty one, allows nothing: what a profile does not grant is not granted.
 */
export function compilePolicy(profile: PermissionProfile | undefined, options: PolicyOptions = {}): Policy {
  const outbound = profile?.network?.outbound
  const allowHost = toList<string>(outbound?.allow_host)
  const allowPort = toList<number>(outbound?.allow_port)
  const names = new Map<string, number>()
  const addresses = new Map<string, number>()
  const suffixes: { suffix: string; index: number }[] = []
  for (const [index, entry] of allowHost.entries()) {
    const pattern = parseHostPattern(String(entry))
    if (pattern.kind === 'suffix') suffixes.push({ suffix: pattern.text, index })
    if (pattern.kind === 'name') setOnce(names, pattern.text, index)
    if (pattern.kind === 'address') setOnce(addresses, pattern.text, index)
  }
  const ports = new Map<number, number>()
  for (const [index, port] of allowPort.entries()) setOnce(ports, port, index)
  return {
    allowAll: profile == null || outbound?.insecure_allow_all === true,
    fromProfile: profile != null,
    names,
    suffixes,
    addresses,
    ports,
    limitsHosts: isGiven(outbound?.allow_host),
    limitsPorts: isGiven(outbound?.allow_port),
    allowHost,
    allowPort,
    allowGateway: options.allowGateway ?? false,
    gateways: new Set((options.gateways ?? []).map(spelling)),
    source: { profile, options },
  }
}

/** The policy of a workload as its run config says. */
export const policyOf = (config: RunConfig, gateways: readonly string[] = []): Policy =>
  compilePolicy(config.permission_profile, {
    allowGateway: config.allow_docker_gateway ?? false,
    gateways,
  })

export type HostPattern =
  | { readonly kind: 'name' | 'address' | 'suffix'; readonly text: string }
  | { readonly kind: 'invalid'; readonly problem: string }

/** Reads an entry of `allow_host`. `.example.com` and `*.example.com` both mean the domain and all below it. */
export function parseHostPattern(entry: string): HostPattern {
  const domain = /^(?:\*\.|\.)(.*)$/s.exec(entry)?.[1]
  const host = parseHost(domain ?? entry)
  if (host.kind === 'invalid') return host
  if (domain === undefined) return { kind: host.kind, text: host.text }
  if (host.kind === 'address') return { kind: 'invalid', problem: 'an address has no subdomains' }
  return { kind: 'suffix', text: `.${host.text}` }
}

/** The one spelling of an address or name; the text itself if it is neither. */
function spelling(text: string): string {
  const host = parseHost(text)
  return host.kind === 'invalid' ? text : host.text
}

const toList = <T>(value: unknown): readonly T[] => (Array.isArray(value) ? value : [])

/** What should be a list and is not still counts as given, or it would allow more than it says. */
const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)

function setOnce<K>(map: Map<K, number>, key: K, index: number): void {
  if (!map.has(key)) map.set(key, index)
}
