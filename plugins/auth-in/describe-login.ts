import type { RunConfig } from '../../src/contracts/run-config.ts'
import { isEmpty } from '../../src/lib/is-empty.ts'
import { oidcOf } from './section.ts'

const OWN = 'tokens of its own authorization server'

/** Whose tokens are accepted, in few words for the user. */
export function describeLogin(config: RunConfig): string {
  const oidc = oidcOf(config)
  if (!oidc) return OWN
  const { issuer, jwksurl, introspectionURL, audience, allow = [], scopes = [] } = oidc
  const provider = [
    `OIDC ${issuer ?? jwksurl ?? introspectionURL ?? ''}`,
    ...(audience ? [`audience ${audience}`] : []),
    ...(scopes.length ? [`scopes ${scopes.join(' ')}`] : []),
    ...(allow.length ? [`only ${allow.join(', ')}`] : []),
  ].join(', ')
  // A member of another plugin.
  const { embedded_auth_server_config: server }: Readonly<Record<string, unknown>> = { ...config }
  return isEmpty(server) ? provider : `${OWN}, or ${provider}`
}
