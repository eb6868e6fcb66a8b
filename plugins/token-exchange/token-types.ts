import { failures } from '../../src/errors.ts'

const PREFIX = 'urn:ietf:params:oauth:token-type:'

/** Token types (RFC 8693, section 3) by the names that flags and run configs have for them. */
export const TOKEN_TYPES = {
  access_token: `${PREFIX}access_token`,
  id_token: `${PREFIX}id_token`,
  jwt: `${PREFIX}jwt`,
} as const

/** An identity assertion JWT authorization grant (draft-ietf-oauth-identity-assertion-authz-grant, section 3). */
export const ID_JAG = `${PREFIX}id-jag`

/** Returns the URN of a token type that is written by its name or its URN. Fails with `usage`. */
export function toTokenType(said: string | undefined, fallback: keyof typeof TOKEN_TYPES): string {
  const known = Object.entries(TOKEN_TYPES).find(([name, urn]) => said === name || said === urn)
  if (!said) return TOKEN_TYPES[fallback]
  if (known) return known[1]
  throw failures.usage({
    text: `"${said.slice(0, 100)}" is not a type of tokens that are exchanged.`,
    hint: `It is one of ${Object.keys(TOKEN_TYPES).join(', ')}, or their URNs (RFC 8693, section 3).`,
  })
}
