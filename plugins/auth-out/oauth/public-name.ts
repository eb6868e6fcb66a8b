import { lookup } from 'node:dns/promises'
import { publicAddressProblem } from '../../../src/net/public-address-problem.ts'
import { failures } from '../failures.ts'
import type { Discovery } from './types.ts'

/**
 * Fails with `remote_issuer_invalid` where a server on the internet sends a person's browser into a private network.
 * A name that cannot be looked up passes: the browser will not get there either.
 */
export async function assertPublicName(
  { issuer, mayBePrivate }: Pick<Discovery, 'issuer' | 'mayBePrivate'>,
  address: string | undefined,
): Promise<void> {
  if (mayBePrivate || address === undefined) return
  const { hostname } = new URL(address)
  const found = await lookup(hostname.replace(/^\[|\]$/g, ''), { all: true }).catch(() => [])
  if (!found.some(({ address }) => publicAddressProblem(address))) return
  throw failures.remote_issuer_invalid({ issuer, problem: `it sends to a private address (${hostname})` })
}
