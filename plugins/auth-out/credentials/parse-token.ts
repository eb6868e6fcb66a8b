import { failures } from '../failures.ts'

/** What may stand in a header after `Bearer `; wider than RFC 6750, section 2.1, as real tokens are. */
const TOKEN = /^[\x21-\x7e]{1,16384}$/

/** The token without blanks around it. Fails with `bearer_token_wrong`; `where` is named, the value is not. */
export function parseToken(text: string, where: string): string {
  const token = text.trim()
  if (!TOKEN.test(token)) throw failures.bearer_token_wrong({ where })
  return token
}
