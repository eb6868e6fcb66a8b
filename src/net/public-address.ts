import { parseAddress } from './address.ts'
import { kindOf } from './address-kind.ts'
import { createOwnAddresses } from './own-addresses.ts'

const ownAddresses = createOwnAddresses()

/**
 * Whether an IP address is a place on the internet: not special by any registry (see `kindOf`), and not
 * an address of this machine. Text that is not an address is not public. Brackets of a URL may be there.
 */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text.replace(/^\[|\]$/g, ''))
  return address !== undefined && kindOf(address) === undefined && !ownAddresses().has(address.text)
}
