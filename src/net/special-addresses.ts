import { type Address, parseAddress, toIpv4 } from './address.ts'

/** Why an address is not a place on the internet. Each is also the rule that denies it. */
export type AddressKind =
  | 'unspecified'
  | 'loopback'
  | 'link_local'
  | 'private'
  | 'carrier_nat'
  | 'multicast'
  | 'reserved'
  | 'metadata'
  | 'tunnel'

/** How a sentence calls each kind. */
export const KIND_WORDS: Readonly<Record<AddressKind, string>> = {
  unspecified: 'an address of "this host"',
  loopback: 'a loopback address',
  link_local: 'a link-local address',
  private: 'a private address',
  carrier_nat: 'an address of shared (carrier NAT) space',
  multicast: 'a multicast address',
  reserved: 'a reserved address',
  metadata: 'the address of a cloud metadata service',
  tunnel: 'an IPv6 address that tunnels to an IPv4 address',
}

interface Range {
  readonly kind: AddressKind
  readonly family: 4 | 6
  readonly network: bigint
  readonly shift: bigint
}

/** First match wins. IANA special-purpose registries (RFC 6890), and well-known metadata services. */
const readRanges = (): readonly Range[] => [
  ...ranges(
    'metadata',
    '169.254.169.254/32 169.254.170.2/32 169.254.170.23/32 168.63.129.16/32 100.100.100.200/32 192.0.0.192/32',
  ),
  ...ranges('metadata', 'fd00:ec2::254/128 fd00:ec2::23/128 fd20:ce::254/128 fe80::a9fe:a9fe/128'),
  ...ranges('unspecified', '0.0.0.0/8 ::/128'),
  ...ranges('loopback', '127.0.0.0/8 ::1/128'),
  ...ranges('link_local', '169.254.0.0/16 fe80::/10'),
  ...ranges('private', '10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7 fec0::/10 64:ff9b:1::/48'),
  ...ranges('carrier_nat', '100.64.0.0/10'),
  ...ranges('multicast', '224.0.0.0/4 ff00::/8'),
  ...ranges('reserved', '192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24'),
  ...ranges('reserved', '203.0.113.0/24 240.0.0.0/4 2001:db8::/32 3fff::/20'),
  ...ranges('tunnel', '2002::/16 2001::/32 ::/96 ::ffff:0:0:0/96'),
  ...ranges('reserved', '2001::/23'),
]
/** Read when an address is first compared, which most commands never do. */
let known: readonly Range[] | undefined

const NAT64 = { family: 6, network: 0x64ff9b0000000000000000n, shift: 32n } as const
const GLOBAL_IPV6 = { family: 6, network: 1n, shift: 125n } as const

function ranges(kind: AddressKind, text: string): Range[] {
  return text.split(' ').map(item => {
    const [network = '', length = ''] = item.split('/')
    const address = parseAddress(network)
    if (!address) throw new Error(`not a range: ${item}`)
    const shift = BigInt((address.family === 4 ? 32 : 128) - Number(length))
    return { kind, family: address.family, network: address.bits >> shift, shift }
  })
}

const isIn = (address: Address, range: Omit<Range, 'kind'>): boolean =>
  address.family === range.family && address.bits >> range.shift === range.network

/**
 * What kind of special address this is; undefined for a public one.
 *
 * A NAT64 address (RFC 6052) is what the IPv4 address in it is: behind NAT64 every name resolves to
 * one. The deprecated tunnels (6to4, Teredo, IPv4-compatible) are never public.
 */
export function kindOf(address: Address): AddressKind | undefined {
  if (isIn(address, NAT64)) return kindOf(toIpv4(address.bits & 0xffffffffn))
  known ??= readRanges()
  const range = known.find(candidate => isIn(address, candidate))
  if (range?.kind === 'tunnel')
    return (
      embeddedIpv4(address)
        .map(kindOf)
        .find(kind => kind !== undefined) ?? 'tunnel'
    )
  if (range) return range.kind
  return address.family === 6 && !isIn(address, GLOBAL_IPV6) ? 'reserved' : undefined
}

const low32 = (bits: bigint): Address => toIpv4(bits & 0xffffffffn)

/** The IPv4 addresses that an IPv6 address would be translated or tunnelled to. */
export function embeddedIpv4({ family, bits }: Address): readonly Address[] {
  if (family === 4) return []
  const top = bits >> 32n // IPv4-compatible, NAT64 (RFC 6052), SIIT (RFC 2765)
  if (top === 0n || top === 0x64ff9b0000000000000000n || top === 0xffff0000n) return [low32(bits)]
  if (bits >> 80n === 0x64ff9b0001n) {
    // RFC 6052 section 2.2 with a prefix of 48 bits; or of 96, as networks use the local prefix too.
    const split = ((bits >> 48n) & 0xffff0000n) | ((bits >> 40n) & 0xffffn)
    return [low32(split), low32(bits)]
  }
  if (bits >> 112n === 0x2002n) return [low32(bits >> 80n)] // RFC 3056
  if (bits >> 96n === 0x20010000n) return [low32(bits >> 64n), low32(~bits)] // RFC 4380: server, client
  return []
}
