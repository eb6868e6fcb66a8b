import type { CallerAuthConfig } from '../../src/contracts/caller-auth.ts'
import { isLoopback } from '../../src/net/loopback.ts'
import { failures } from './failures.ts'
import { findOpenIssuer } from './open-issuers.ts'
import { isGitHub, PROVIDERS } from './tokens/introspection-endpoints.ts'

const URLS = {
  issuer: '--oidc-issuer',
  jwksUrl: '--oidc-jwks-url',
  introspectionUrl: '--oidc-introspection-url',
  resourceUrl: '--resource-url',
} as const

/** A way to log in that is not open to anybody. */
export type UsableConfig = CallerAuthConfig & { readonly audience: string }

/** Fails with `auth_config_invalid` for a configuration that would refuse or accept all callers. */
export function assertUsable(config: CallerAuthConfig): asserts config is UsableConfig {
  for (const [member, flag] of Object.entries(URLS)) {
    const text = config[member as keyof typeof URLS]
    if (text !== undefined) assertUrl(text, flag, member === 'resourceUrl' || config.allowHttp === true)
  }
  const { issuer, audience, jwksUrl, introspectionUrl, clientId, clientSecret, allow = [] } = config
  if (audience === '') throw failures.auth_config_invalid({ problem: '--oidc-audience is empty' })
  if (!issuer && !jwksUrl && !introspectionUrl) {
    throw failures.auth_config_invalid({
      problem: 'no issuer and no introspection endpoint is named',
      hint: 'Give --oidc-issuer, --oidc-jwks-url or --oidc-introspection-url.',
    })
  }
  if (audience === undefined) {
    throw failures.auth_config_invalid({
      problem: 'without an audience, tokens issued for other services would be accepted',
      hint: 'Name the audience with --oidc-audience.',
    })
  }
  const open = allow.length ? undefined : findOpenIssuer(config)
  if (open !== undefined) {
    throw failures.auth_config_invalid({
      problem: `anybody can get a token from ${open}`,
      hint: 'Say who may call with --oidc-allow, for example --oidc-allow email=ada@example.com.',
    })
  }
  if (introspectionUrl !== undefined && isGitHub(introspectionUrl, PROVIDERS.github) && !clientId) {
    throw failures.auth_config_invalid({
      problem: 'GitHub shows tokens only to the application that they were issued to',
      hint: 'Give its client ID and secret: --oidc-client-id, --oidc-client-secret-file.',
    })
  }
  if (clientSecret !== undefined && !clientId) {
    throw failures.auth_config_invalid({ problem: 'there is a client secret without --oidc-client-id' })
  }
}

function assertUrl(text: string, flag: string, allowHttp: boolean): void {
  const url = URL.parse(text)
  const invalid = (problem: string, hint?: string) =>
    failures.auth_config_invalid({ problem: `${flag} ${problem}`, hint })
  if (!url || !/^https?:$/.test(url.protocol)) throw invalid(`"${text}" is not an http or https URL`)
  if (url.username || url.password) throw invalid('holds a user name or password')
  if (url.hash) throw invalid('has a fragment')
  if (url.protocol === 'http:' && !allowHttp) {
    const local = isLoopback(url.hostname) ? ' and --jwks-allow-private-ip' : ''
    throw invalid(
      'must be an https URL, or whoever is in between can let anybody in',
      `For development there are --oidc-insecure-allow-http${local}.`,
    )
  }
}
