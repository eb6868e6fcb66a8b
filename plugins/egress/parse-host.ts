import { domainToASCII } from 'node:url'
import { type Address, endsInNumber, parseAddress } from '../../src/net/address.ts'

/** What a host in a request or a profile is: `text` is its one spelling. */
export type Host =
  | { readonly kind: 'name'; readonly text: string }
  | { readonly kind: 'address'; readonly text: string; readonly address: Address }
  | { readonly kind: 'invalid'; readonly problem: string }

const invalid = (problem: string): Host => ({ kind: 'invalid', problem })

/**
 * Reads a host: lower case, one trailing dot dropped, IDN to its ASCII form (UTS 46), addresses in
 * every notation to their usual one. A text whose last label is a number is an address or invalid.
 */
export function parseHost(text: string): Host {
  if (text === '') return invalid('it is empty')
  const bracketed = /^\[(.*)\]$/.exec(text)
  const bare = bracketed?.[1] ?? text
  if (bare.includes(':') || bracketed) {
    const address = bare.includes(':') ? parseAddress(bare) : undefined
    if (!address) return invalid('it is not an IPv6 address (a zone is not accepted)')
    return { kind: 'address', text: address.text, address }
  }
  return parseName(text)
}

function parseName(text: string): Host {
  const isAscii = /^[\u0021-\u007e]*$/.test(text)
  const ascii = isAscii ? text.toLowerCase() : domainToASCII(text)
  const name = ascii.endsWith('.') ? ascii.slice(0, -1) : ascii
  if (name === '') return invalid('it is not a host name')
  if (endsInNumber(name)) {
    const address = parseAddress(name)
    return address
      ? { kind: 'address', text: address.text, address }
      : invalid('it ends in a number but is not an IPv4 address')
  }
  if (name.length > 253) return invalid('it is longer than 253 characters')
  const label = name.split('.').find(part => !/^[a-z0-9_-]{1,63}$/.test(part))
  if (label === '') return invalid('it has an empty label')
  if (label !== undefined) return invalid('it has a label that is too long or holds other characters')
  return { kind: 'name', text: name }
}

export interface Authority {
  /** The host as it was written. */
  readonly text: string
  readonly host: Host
  readonly port: number
}

/**
 * Reads `host[:port]` as it stands in a request target or a Host header (RFC 9112 section 3.2).
 * Without `defaultPort` the port must be there. User information is never taken.
 */
export function parseAuthority(text: string, defaultPort?: number): Authority | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[^:@/\\?#[\]%\s]+)(?::(\d*))?$/i.exec(text)
  if (!match?.[1]) return undefined
  const port = match[2] ? Number(match[2]) : defaultPort
  if (port === undefined || port < 1 || port > 65535) return undefined
  return { text: match[1], host: parseHost(match[1]), port }
}
