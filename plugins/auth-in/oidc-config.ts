import { unenforcedFailures } from '../../src/contracts/unenforced-failures.ts'
import { isEmpty } from '../../src/lib/is-empty.ts'
import { bool, object, optional, type TypeOf, text, texts } from '../../src/lib/schema.ts'
import { findErrors } from '../../src/schema-check.ts'
import { failures } from './failures.ts'

/** How callers of a workload log in, by the names of ToolHive's published schema. */
export const oidcMembers = {
  issuer: optional(text),
  audience: optional(text),
  jwksurl: optional(text),
  introspectionURL: optional(text),
  clientID: optional(text),
  /** In a saved run config it is a reference, `NAME,target=oidc_client_secret`. */
  clientSecret: optional(text),
  /** Path of a file with the secret; read when the workload starts. Ours. */
  clientSecretFile: optional(text),
  resourceURL: optional(text),
  scopes: optional(texts),
  /** `claim=value`: who may call. Ours. */
  allow: optional(texts),
  /** Tokens have to say that they are access tokens (`typ: at+jwt`, RFC 9068). Ours. */
  accessTokensOnly: optional(bool),
  /** PEM file of certificates that are trusted at the provider. */
  cacertPath: optional(text),
  /** Path of a file with the bearer token for the documents of the issuer; read again for each request. */
  authTokenFile: optional(text),
  allowPrivateIP: optional(bool),
  insecureAllowHTTP: optional(bool),
}

const schema = object(oidcMembers)
export type OidcConfig = TypeOf<typeof schema>

const NAMES = new Map(Object.keys(oidcMembers).map(name => [name.toLowerCase(), name]))

/**
 * Returns what `oidc_config` says, with the published names; undefined when nothing is said. ToolHive writes the
 * members as `ClientID` and reads them in any case. Fails with `auth_config_invalid`, or with `section_unenforced` for
 * members that are not known and ask for something.
 */
export function readOidcConfig(value: unknown): OidcConfig | undefined {
  if (isEmpty(value)) return undefined
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw failures.auth_config_invalid({ problem: 'oidc_config is not an object' })
  }
  const read: Record<string, unknown> = {}
  const unknown: string[] = []
  for (const [written, member] of Object.entries(value)) {
    const name = NAMES.get(written.toLowerCase())
    if (isEmpty(member)) continue
    if (name === undefined) unknown.push(written)
    else if (Object.hasOwn(read, name)) {
      throw failures.auth_config_invalid({ problem: `oidc_config names ${name} twice` })
    } else read[name] = name === 'issuer' && typeof member === 'string' ? member.trim() : member
  }
  if (unknown.length) {
    throw unenforcedFailures.section_unenforced({
      members: unknown.map(name => `oidc_config.${name} (a login of clients at an OpenID provider)`),
    })
  }
  const problem = findErrors(schema, read)
  if (problem !== undefined) {
    throw failures.auth_config_invalid({ problem: `oidc_config is not valid: ${problem}` })
  }
  return read as OidcConfig
}
