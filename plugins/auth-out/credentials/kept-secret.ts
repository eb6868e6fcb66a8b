import { createHash } from 'node:crypto'

/** What a kept secret is for; also the target in its reference. */
export type SecretKind =
  | 'header'
  | 'oauth_secret'
  | 'bearer_token'
  | 'private_key'
  | 'oauth_refresh'
  | 'oauth_registration'

const PREFIXES: Readonly<Record<SecretKind, string>> = {
  header: 'FORWARDED_HEADER_',
  oauth_secret: 'OAUTH_CLIENT_SECRET_',
  bearer_token: 'BEARER_TOKEN_',
  private_key: 'OAUTH_PRIVATE_KEY_',
  oauth_refresh: 'OAUTH_REFRESH_TOKEN_',
  oauth_registration: 'OAUTH_REG_TOKEN_',
}

const REFERENCE = /^([^,]{1,300}),target=([a-z_]+)$/

/** Whether a secret of this name is one that keelson keeps by itself, apart from those of the user. */
export const isKept = (name: string): boolean =>
  Object.values(PREFIXES).some(prefix => name.startsWith(prefix))

/** The name of the secret in `NAME,target=…`; undefined where the text is a value itself. */
export const referredName = (text: string): string | undefined => REFERENCE.exec(text)?.[1]

export const toReference = (name: string, kind: SecretKind): string => `${name},target=${kind}`

/**
 * The name that a secret of an owner is kept under. It is made of what the secret is for, such as an origin, so
 * that a run config which names another server cannot make use of it.
 */
export function keptName(kind: SecretKind, owner: string, boundTo: readonly string[]): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([owner, ...boundTo]))
    .digest('hex')
  return `${PREFIXES[kind]}${owner}_${digest.slice(0, 16)}`
}
