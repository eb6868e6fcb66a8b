import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** Networks that no public server lives in (IANA special-purpose address registries, RFC 6890). */
const IPV4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const
const IPV6 = [
  ['::', 128],
  ['::1', 128],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const

const blocked = new BlockList()
for (const [network, bits] of IPV4) blocked.addSubnet(network, bits, 'ipv4')
for (const [network, bits] of IPV6) blocked.addSubnet(network, bits, 'ipv6')

/**
 * Whether an IP address belongs to this host, a private network or nobody. IPv6 forms that carry an
 * IPv4 address (mapped, NAT64, 6to4) are judged by it. What is no address at all counts as private.
 */
export function isPrivateAddress(address: string): boolean {
  const plain = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '')
  if (isIPv4(plain)) return blocked.check(plain, 'ipv4')
  if (!isIPv6(plain)) return true
  const inner = carriedIpv4(plain)
  return inner === undefined ? blocked.check(plain, 'ipv6') : blocked.check(inner, 'ipv4')
}

function carriedIpv4(address: string): string | undefined {
  const groups = expand(address)
  const [a, b, c, d, e, f, g = 0, h = 0] = groups
  const leading = [a, b, c, d, e].every(group => group === 0)
  if (leading && (f === 0xffff || (f === 0 && g !== 0))) return dotted(g, h)
  if (a === 0x64 && b === 0xff9b && [c, d, e, f].every(group => group === 0)) return dotted(g, h)
  if (a === 0x2002) return dotted(b ?? 0, c ?? 0)
  return undefined
}

const dotted = (high: number, low: number): string => [high >> 8, high & 255, low >> 8, low & 255].join('.')

/** The eight groups of an IPv6 address. */
function expand(address: string): number[] {
  const tail = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address)
  const hex = tail
    ? address.slice(0, tail.index) +
      [0, 2].map(i => (Number(tail[i + 1]) * 256 + Number(tail[i + 2])).toString(16)).join(':')
    : address
  const [left = '', right] = hex.split('::')
  const read = (text: string | undefined) =>
    text ? text.split(':').map(group => Number.parseInt(group, 16)) : []
  const head = read(left)
  const end = read(right)
  return right === undefined
    ? head
    : [...head, ...Array<number>(8 - head.length - end.length).fill(0), ...end]
}
