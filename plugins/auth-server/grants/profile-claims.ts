/** Returns what the granted scopes let a token say of a person (OpenID Connect Core, section 5.4). */
export const profileClaims = (
  { name, email }: { readonly name?: string | undefined; readonly email?: string | undefined },
  scopes: readonly string[],
): { readonly name?: string; readonly email?: string } => ({
  ...(name !== undefined && scopes.includes('profile') ? { name } : {}),
  ...(email !== undefined && scopes.includes('email') ? { email } : {}),
})
