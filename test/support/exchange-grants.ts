import { decodeJwt, type GenerateKeyPairResult, jwtVerify, SignJWT } from 'jose'
import type Provider from 'oidc-provider'
import { errors, type GrantContext } from 'oidc-provider'

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const TYPE = 'urn:ietf:params:oauth:token-type:'

export const EXCHANGE_GRANTS = [EXCHANGE, JWT_BEARER]

/** Parameters of RFC 8693, section 2.1, and RFC 7523, section 2.1. */
const PARAMETERS = [
  ...['subject_token', 'subject_token_type', 'actor_token', 'actor_token_type'],
  ...['requested_token_type', 'audience', 'resource', 'scope', 'assertion'],
]

/**
 * Teaches a provider to exchange tokens that it has issued (RFC 8693), for access tokens or ID-JAGs, and to take ID-JAGs
 * of other providers of the tests (RFC 7523): they all have one key.
 */
export function registerExchangeGrants(
  provider: Provider,
  { issuer, key, seconds }: { issuer: string; key: GenerateKeyPairResult; seconds: () => number },
): void {
  /** The claims of a token of ours. */
  async function verify(
    token: string | undefined,
    options: { issuer?: string; audience?: string; typ?: string },
  ) {
    const checked = await jwtVerify(token ?? '', key.publicKey, options).catch(() => undefined)
    if (!checked) throw new errors.InvalidGrant('the token is not good')
    return checked.payload
  }

  function sign(claims: Record<string, unknown>, typ: string): Promise<string> {
    const at = Math.floor(Date.now() / 1000)
    return new SignJWT({ ...claims, iss: issuer, iat: at, exp: at + seconds(), jti: crypto.randomUUID() })
      .setProtectedHeader({ alg: 'RS256', kid: 'test', typ })
      .sign(key.privateKey)
  }

  async function exchange(ctx: GrantContext): Promise<void> {
    const { params, client } = ctx.oidc
    const { audience, resource, scope, requested_token_type: type = `${TYPE}access_token` } = params
    const subject = await verify(params.subject_token, { issuer })
    if (subject.sub === 'mallory') throw new errors.InvalidTarget('mallory may not')
    const actor = params.actor_token ? await verify(params.actor_token, { issuer }) : undefined
    const isJag = type === `${TYPE}id-jag`
    const claims = {
      ...{ sub: subject.sub, aud: audience, scope, client_id: client.clientId },
      ...(resource ? { resource } : {}),
      ...(actor ? { act: { sub: actor.sub } } : {}),
    }
    ctx.body = {
      access_token: await sign(claims, isJag ? 'oauth-id-jag+jwt' : 'at+jwt'),
      issued_token_type: type,
      token_type: isJag ? 'N_A' : 'Bearer',
      expires_in: seconds(),
      ...(scope ? { scope } : {}),
    }
  }

  async function redeem(ctx: GrantContext): Promise<void> {
    const { params, client } = ctx.oidc
    const assertion = await verify(params.assertion, { audience: issuer, typ: 'oauth-id-jag+jwt' })
    const claims = {
      sub: assertion.sub,
      aud: assertion.resource,
      scope: assertion.scope,
      client_id: client.clientId,
    }
    ctx.body = { access_token: await sign(claims, 'at+jwt'), token_type: 'Bearer', expires_in: seconds() }
  }

  provider.registerGrantType(EXCHANGE, exchange, PARAMETERS)
  provider.registerGrantType(JWT_BEARER, redeem, PARAMETERS)
}

/** The claims of a token, unchecked. */
export const claimsOf = (header: string | undefined): Record<string, unknown> =>
  decodeJwt((header ?? '').replace(/^Bearer /, ''))
