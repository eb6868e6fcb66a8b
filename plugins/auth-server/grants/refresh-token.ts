import type { HmacSecrets } from '../keys/hmac-secrets.ts'
import { OAuthError } from '../protocol/oauth-error.ts'
import type { Grant } from './grant.ts'
import type { Grants } from './grants.ts'

const SHAPE = /^([A-Za-z0-9_-]{22})\.(\d{1,9})\.([A-Za-z0-9_-]{43})$/

/**
 * Returns the refresh token that is valid for a grant now. It holds the grant, its generation and an HMAC. Nobody can
 * make one without both the secret of the server and the stored grant.
 */
export const refreshTokenOf = ({ id, generation, secret }: Grant, secrets: HmacSecrets): string =>
  `${id}.${generation}.${secrets.sign('refresh', id, String(generation), secret)}`

/** Returns the grant of a refresh token of ours, used or not; undefined: it is none, or its grant has ended. */
export async function findIssued(
  token: string,
  grants: Grants,
  secrets: HmacSecrets,
): Promise<{ grant: Grant; isUsed: boolean } | undefined> {
  const [, id = '', generation = '', signature = ''] = SHAPE.exec(token) ?? []
  const grant = id === '' ? undefined : await grants.find(id)
  if (!grant?.refreshes || !secrets.isSigned(signature, 'refresh', id, generation, grant.secret))
    return undefined
  return { grant, isUsed: Number(generation) !== grant.generation }
}

/**
 * Returns the grant of a refresh token of this client. One that was used before ends the whole grant, since one of
 * its two users has stolen it (RFC 9700, section 4.14). Fails with `invalid_grant`.
 */
export async function findRefreshed(
  token: string,
  grants: Grants,
  secrets: HmacSecrets,
  clientId: string,
): Promise<Grant> {
  const found = await findIssued(token, grants, secrets)
  if (!found) throw notValid()
  if (found.grant.clientId !== clientId)
    throw new OAuthError('invalid_grant', 'The refresh token was issued to another client.')
  if (!found.isUsed) return found.grant
  await grants.revoke(found.grant.id, found.grant.upstreams)
  throw notValid()
}

export const notValid = (): OAuthError =>
  new OAuthError('invalid_grant', 'The refresh token is not valid: it was used, has expired or was revoked.')
