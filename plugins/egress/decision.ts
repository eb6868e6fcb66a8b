import type { AddressKind } from '../../src/net/special-addresses.ts'

/** What decides. The first four allow; all others deny. */
export type Rule =
  | 'insecure_allow_all'
  | 'allow_host'
  | 'allow_port'
  | 'allow_docker_gateway'
  | 'not_in_allow_host'
  | 'not_in_allow_port'
  | 'nothing_allowed'
  | 'gateway'
  | 'own_address'
  | 'proxy_itself'
  | 'host_invalid'
  | 'unresolvable'
  | AddressKind

export interface Destination {
  readonly host: string
  readonly port: number
}

/** The decision about one destination, for programs and people. */
export interface Decision {
  readonly allowed: boolean
  readonly rule: Rule
  /** Member of the permission profile that the rule stands in, e.g. `network.outbound.allow_host[0]`. */
  readonly member?: string
  /** One sentence, without the final stop. */
  readonly reason: string
  /** The host in its one spelling (as asked for, if it has none). */
  readonly host: string
  readonly port: number
  /** What the host is; connect to these and to nothing else. Of a denied name: what was looked at. */
  readonly addresses: readonly string[]
  /** Lines of the profile's `network.outbound` (or a flag) that would allow it. */
  readonly add?: readonly string[]
}

/** Addresses of a name, none if there is no such name. May throw; that counts as none. */
export type Resolve = (name: string, signal?: AbortSignal) => Promise<readonly string[]>
