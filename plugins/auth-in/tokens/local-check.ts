import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import type { LocalIssuer } from '../../../src/contracts/caller-auth.ts'
import { failures } from '../failures.ts'
import { createJwtCheck } from './check-jwt.ts'
import { isJwt } from './read-jwt.ts'
import type { TokenChecker } from './token-checker.ts'

/**
 * Accepts the tokens of an authorization server in this process, whose keys are not fetched and whose grants are looked
 * up: a revoked one ends at once. Tokens that do not name it as their issuer go to `others`.
 */
export function createLocalCheck(
  local: LocalIssuer,
  { others, now = Date.now }: { others: TokenChecker | undefined; now?: () => number },
): TokenChecker {
  const { issuer, audience } = local
  const checkJwt = createJwtCheck({
    ...{ issuer, audience, now },
    accessTokensOnly: true,
    keys: keysOf(local),
  })
  return async token => {
    if (!isJwt(token) || issuerIn(token) !== issuer) {
      if (others) return others(token)
      throw failures.token_invalid({ problem: 'it is not one of this authorization server' })
    }
    const caller = await checkJwt(token)
    if (await local.isActive(caller.claims)) return caller
    throw failures.token_invalid({ problem: 'it was revoked' })
  }
}

/** The keys as they are now: they may be replaced at any time. */
function keysOf(local: LocalIssuer): JWTVerifyGetKey {
  let known: { readonly text: string; readonly find: ReturnType<typeof createLocalJWKSet> } | undefined
  return async (header, token) => {
    const document = await local.keys()
    const text = JSON.stringify(document)
    if (known?.text !== text) {
      known = { text, find: createLocalJWKSet(document as unknown as JSONWebKeySet) }
    }
    return known.find(header, token)
  }
}

/** Only decides who checks the token. */
function issuerIn(token: string): unknown {
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}
