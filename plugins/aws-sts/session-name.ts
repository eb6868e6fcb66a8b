/** STS, AssumeRoleWithWebIdentity: `RoleSessionName`. It appears in the logs of AWS. */
const SESSION_NAME = /^[\w+=,.@-]{2,64}$/

/** The name of a caller's session; undefined where its claim cannot be one. */
export function sessionNameOf(claims: Readonly<Record<string, unknown>>, claim = 'sub'): string | undefined {
  const found = Object.hasOwn(claims, claim) ? claims[claim] : undefined
  return typeof found === 'string' && SESSION_NAME.test(found) ? found : undefined
}
