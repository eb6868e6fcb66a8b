type Claims = Readonly<Record<string, unknown>>

/**
 * The groups of a caller: what the claims `groups`, `roles` (Entra ID, Okta), `realm_access.roles` (Keycloak) and
 * `cognito:groups` (AWS) list, each name once. Members that are not texts do not count.
 */
export function groupsOf(claims: Claims): string[] {
  const { groups, roles, realm_access: realm, 'cognito:groups': cognito } = claims
  const realmRoles = typeof realm === 'object' && realm !== null && 'roles' in realm ? realm.roles : undefined
  const named = [groups, roles, realmRoles, cognito].flatMap(list => (Array.isArray(list) ? list : []))
  return [...new Set(named.filter((name): name is string => typeof name === 'string' && name !== ''))]
}
