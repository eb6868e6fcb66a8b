import type { Caller } from '../../../src/contracts/caller-auth.ts'
import type { UsableConfig } from '../assert-usable.ts'
import { failures } from '../failures.ts'
import { createJwtCheck } from './check-jwt.ts'
import { createFetchDocument, type FetchDocument } from './fetch-document.ts'
import { findJwks } from './find-jwks.ts'
import { createIntrospection } from './introspect.ts'
import { chooseEndpoint, PROVIDERS, type ProviderPlaces } from './introspection-endpoints.ts'
import { keepChecked } from './keep-checked.ts'
import { createKeptKeys } from './kept-keys.ts'
import { createKeySet } from './key-set.ts'
import { readIssuerToken } from './read-issuer-token.ts'
import { isJwt } from './read-jwt.ts'

/**
 * Returns whose a token is. Fails with `token_invalid`, or `auth_unavailable` where that cannot be found out.
 */
export type TokenChecker = (token: string) => Promise<Caller>

/** What a checker is made with besides its configuration. */
export interface CheckerParts {
  readonly now?: () => number
  readonly timeoutMs?: number
  /** Where keys of issuers outlive the process; without it they do not. */
  readonly keysFolder?: string | undefined
  readonly places?: ProviderPlaces
}

/**
 * JWTs are checked by the keys of their issuer; other tokens go to the introspection endpoint, and so
 * does everything where no keys are to be had. A JWT that is refused is not asked about again elsewhere.
 */
export function createTokenChecker(
  config: UsableConfig,
  { now = Date.now, timeoutMs, keysFolder, places = PROVIDERS }: CheckerParts = {},
): TokenChecker {
  const { issuer, audience, jwksUrl, introspectionUrl } = config
  const fetchDocument = createFetchDocument(config, timeoutMs)
  const about = { issuer, audience, now }
  const kept = keysFolder ? createKeptKeys(keysFolder, { issuer, url: jwksUrl }) : undefined

  /** The token of the file is for the issuer alone, not for the introspection endpoint. */
  const fetchFromIssuer: FetchDocument = async url =>
    fetchDocument(url, { headers: await readIssuerToken(config.authTokenFile) })
  const findKeys = jwksUrl
    ? async () => jwksUrl
    : issuer
      ? () => findJwks(issuer, fetchFromIssuer)
      : undefined
  const checkJwt =
    findKeys &&
    keepChecked(
      createJwtCheck({
        ...about,
        accessTokensOnly: config.accessTokensOnly === true,
        keys: createKeySet({ fetch: async () => fetchFromIssuer(await findKeys()), kept, now }),
      }),
      { now },
    )
  const introspect = introspectionUrl
    ? createIntrospection({
        ...about,
        ask: chooseEndpoint({
          url: introspectionUrl,
          clientId: config.clientId,
          clientSecret: config.clientSecret,
          fetchDocument,
          places,
        }),
      })
    : undefined

  return async token => {
    if (checkJwt && isJwt(token)) return checkJwt(token)
    if (introspect) return introspect(token)
    throw failures.token_invalid({ problem: 'it is not a JWT' })
  }
}
