import type { Caller } from '../../src/contracts/caller-auth.ts'
import type { Exchange } from '../../src/contracts/pipeline.ts'

/** Whose session it is: issuer and subject; undefined where nobody has to log in. */
export type SessionOwner = string | undefined

export function ownerOf({ caller }: Pick<Exchange, 'caller'>): SessionOwner {
  if (!caller) return undefined
  const owner = owners.get(caller) ?? JSON.stringify([caller.issuer ?? '', caller.subject])
  owners.set(caller, owner)
  return owner
}

/** It is asked for several times per request, and a caller is the same object as long as their token is cached. */
const owners = new WeakMap<Caller, string>()
