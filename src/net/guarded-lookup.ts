import { type LookupAddress, lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { FetchProblem } from './fetch-problem.ts'
import { publicAddressProblem } from './public-address-problem.ts'

/** Refuses a URL whose host is a literal address that is not public: it is never looked up, so never judged later. */
export function assertNotPrivate({ hostname }: URL): void {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) && publicAddressProblem(host)) throw privateAddress(host)
}

/**
 * Looks a name up and refuses it when any of its addresses is private: what is checked is what is connected to.
 * `see` is told of each name whether all its addresses are private.
 */
export function guardedLookup(
  allowPrivate: boolean,
  see?: (host: string, isPrivate: boolean) => void,
): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      const addresses = (found ?? []) as LookupAddress[]
      const isPrivate = ({ address }: LookupAddress) => publicAddressProblem(address) !== undefined
      const bad = allowPrivate ? undefined : addresses.find(isPrivate)
      const [one] = addresses
      if (!error) see?.(host, addresses.every(isPrivate))
      if (error) callback(error, '', 0)
      else if (bad) callback(privateAddress(host, bad.address), '', 0)
      else if (options.all) callback(null, addresses)
      else callback(null, one?.address ?? '', one?.family)
    })
  }
}

const privateAddress = (host: string, address?: string): FetchProblem =>
  new FetchProblem('private', `${host} is a private address${address ? ` (${address})` : ''}`)
