import type { Caller } from '../../src/contracts/caller-auth.ts'
import type { Exchange } from '../../src/contracts/pipeline.ts'
import { clientAddressOf } from './client-address.ts'

/** Whose session it is: issuer and subject; undefined where nobody has to log in. */
export type SessionOwner = string | undefined

export function ownerOf({ caller }: Pick<Exchange, 'caller'>): SessionOwner {
  if (!caller) return undefined
  const owner = owners.get(caller) ?? JSON.stringify([caller.issuer ?? '', caller.subject])
  owners.set(caller, owner)
  return owner
}

/** The caller whose share a request counts towards: the owner or, if nobody has to log in, the address. */
export const holderOf = (exchange: Pick<Exchange, 'caller' | 'request'>, rules: AddressRules): string =>
  ownerOf(exchange) ?? clientAddressOf(exchange.request, rules) ?? 'unknown'

type AddressRules = Parameters<typeof clientAddressOf>[1]

/** It is asked for several times per request, and a caller is the same object as long as their token is cached. */
const owners = new WeakMap<Caller, string>()
