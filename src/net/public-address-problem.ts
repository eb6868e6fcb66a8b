import { parseAddress } from './address.ts'
import { createOwnAddresses } from './own-addresses.ts'
import { KIND_WORDS, kindOf } from './special-addresses.ts'

const ownAddresses = createOwnAddresses()

/**
 * Why an IP address is not a place on the internet; undefined for one that is. Special addresses (see `kindOf`)
 * and those of this machine are not, nor is text that is not an address. Brackets of a URL may be there.
 */
export function publicAddressProblem(text: string): string | undefined {
  const address = parseAddress(text.replace(/^\[|\]$/g, ''))
  if (!address) return 'it is not an IP address'
  const kind = kindOf(address)
  if (kind) return `it is ${KIND_WORDS[kind]}`
  return ownAddresses().has(address.text) ? 'it is an address of this machine' : undefined
}
