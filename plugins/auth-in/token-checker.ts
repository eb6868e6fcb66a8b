import type { Caller } from '../../src/contracts/caller-auth.ts'
import type { UsableConfig } from './assert-usable.ts'
import { createJwtCheck, isJwt } from './check-jwt.ts'
import { failures } from './failures.ts'
import { createFetchDocument } from './fetch-document.ts'
import { findJwks } from './find-jwks.ts'
import { createIntrospection } from './introspect.ts'
import { createKeySet } from './key-set.ts'

/**
 * Returns whose a token is. Fails with `token_invalid`, or `auth_unavailable` where that cannot be found out.
 */
export type TokenChecker = (token: string) => Promise<Caller>

/**
 * JWTs are checked by the keys of their issuer; other tokens go to the introspection endpoint, and so
 * does everything where no keys are to be had. A JWT that is refused is not asked about again elsewhere.
 */
export function createTokenChecker(
  config: UsableConfig,
  { now = Date.now, timeoutMs }: { now?: () => number; timeoutMs?: number } = {},
): TokenChecker {
  const { issuer, audience, jwksUrl, introspectionUrl } = config
  const fetchDocument = createFetchDocument(config, timeoutMs)
  const about = { issuer, audience, now }

  const findKeys = jwksUrl ? async () => jwksUrl : issuer ? () => findJwks(issuer, fetchDocument) : undefined
  const checkJwt =
    findKeys &&
    createJwtCheck({
      ...about,
      keys: createKeySet({ fetch: async () => fetchDocument(await findKeys()), now }),
    })
  const introspect = introspectionUrl
    ? createIntrospection({
        ...about,
        url: introspectionUrl,
        clientId: config.clientId,
        clientSecret: config.clientSecret,
        fetchDocument,
      })
    : undefined

  return async token => {
    if (checkJwt && isJwt(token)) return checkJwt(token)
    if (introspect) return introspect(token)
    throw failures.token_invalid({ problem: 'it is not a JWT' })
  }
}
