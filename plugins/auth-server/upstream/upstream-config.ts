import type { UpstreamConfig } from '../section.ts'

export type OidcConfig = NonNullable<UpstreamConfig['oidc_config']>
export type OAuth2Config = NonNullable<UpstreamConfig['oauth2_config']>
export type UserinfoConfig = NonNullable<OAuth2Config['userinfo']>
export type RegistrationConfig = NonNullable<OAuth2Config['dcr_config']>

/** The name of an upstream provider that has none. */
export const nameOf = ({ name }: Pick<UpstreamConfig, 'name'>): string => name || 'default'
