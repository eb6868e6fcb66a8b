// Ours because `ipaddr.js` has no ranges for metadata services and does not look into NAT64 and tunnel addresses
// (`address-kind.ts`); reading text as inet_aton(3) does is then little more.
import { isIPv6 } from 'node:net'

/** An IP address as a number, and as the one text that stands for it (RFC 5952 for IPv6). */
export interface Address {
  readonly family: 4 | 6
  readonly bits: bigint
  readonly text: string
}

const MAPPED = 0xffffn // ::ffff:0:0/96, RFC 4291 section 2.5.5.2

export const toIpv4 = (bits: bigint): Address => ({
  family: 4,
  bits,
  text: [24n, 16n, 8n, 0n].map(shift => (bits >> shift) & 0xffn).join('.'),
})

const toIpv6 = (bits: bigint): Address => ({ family: 6, bits, text: formatIpv6(bits) })

/**
 * Reads an address in any notation that a resolver somewhere would take for one.
 *
 * IPv4 also as `127.1`, `0x7f000001`, `2130706433` and with octal parts, as inet_aton(3) does.
 * A mapped address (`::ffff:127.0.0.1`) is the IPv4 address that the system would connect to.
 * IPv6 without brackets or zone.
 */
export function parseAddress(text: string): Address | undefined {
  if (text.includes(':')) return parseIpv6(text)
  const bits = parseIpv4(text)
  return bits === undefined ? undefined : toIpv4(bits)
}

/** Whether a host whose last label is this can only be an IPv4 address (URL Standard, "ends in a number"). */
export const endsInNumber = (host: string): boolean => /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/i.test(host)

function parseIpv4(text: string): bigint | undefined {
  const parts = text.split('.')
  if (parts.length > 4) return undefined
  const numbers = parts.map(parseNumber)
  const last = numbers.pop()
  if (last === undefined || last >= 1n << BigInt(8 * (4 - numbers.length))) return undefined
  let bits = 0n
  for (const number of numbers) {
    if (number === undefined || number > 255n) return undefined
    bits = (bits << 8n) | number
  }
  return (bits << BigInt(8 * (4 - numbers.length))) | last
}

/** Decimal, octal with a leading 0, hexadecimal with a leading 0x. */
function parseNumber(text: string): bigint | undefined {
  if (text.length > 40) return undefined
  if (/^0x[0-9a-f]+$/i.test(text)) return BigInt(text)
  if (/^0[0-7]+$/.test(text)) return BigInt(`0o${text.slice(1)}`)
  return /^(?:0|[1-9]\d*)$/.test(text) ? BigInt(text) : undefined
}

function parseIpv6(text: string): Address | undefined {
  if (text.includes('%') || !isIPv6(text)) return undefined
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text)
  const plain = dotted ? `${dotted[1]}${inHex(dotted[2] ?? '')}` : text
  const [head = '', tail] = plain.split('::')
  const left = head ? head.split(':') : []
  const right = tail ? tail.split(':') : []
  const zeros = Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0')
  const groups = tail === undefined ? left : [...left, ...zeros, ...right]
  const bits = groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n)
  return bits >> 32n === MAPPED ? toIpv4(bits & 0xffffffffn) : toIpv6(bits)
}

function inHex(dotted: string): string {
  const bits = parseIpv4(dotted) ?? 0n
  return `${(bits >> 16n).toString(16)}:${(bits & 0xffffn).toString(16)}`
}

function formatIpv6(bits: bigint): string {
  const groups = Array.from({ length: 8 }, (_, i) => ((bits >> BigInt(112 - 16 * i)) & 0xffffn).toString(16))
  const runs = [...groups.join(':').matchAll(/(?:^|:)(?:0(?::|$)){2,}/g)].map(match => match[0])
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '')
  return longest ? groups.join(':').replace(longest, '::') : groups.join(':')
}
