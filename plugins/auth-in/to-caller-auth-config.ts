import type { CallerAuthConfig } from '../../src/contracts/caller-auth.ts'
import type { OidcConfig } from './oidc-config.ts'

/** What an `oidc_config` says, without what files and the secrets provider hold. */
export const toCallerAuthConfig = (oidc: OidcConfig): CallerAuthConfig => ({
  issuer: oidc.issuer,
  audience: oidc.audience,
  allow: oidc.allow ?? [],
  jwksUrl: oidc.jwksurl,
  introspectionUrl: oidc.introspectionURL,
  clientId: oidc.clientID,
  clientSecret: oidc.clientSecret,
  scopes: oidc.scopes ?? [],
  accessTokensOnly: oidc.accessTokensOnly === true,
  resourceUrl: oidc.resourceURL,
  authTokenFile: oidc.authTokenFile,
  allowHttp: oidc.insecureAllowHTTP === true,
  allowPrivateIp: oidc.allowPrivateIP === true,
})
