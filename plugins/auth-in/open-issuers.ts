import type { CallerAuthConfig } from '../../src/contracts/caller-auth.ts'

/**
 * Identity providers where anybody can have an account, or a job that is given tokens for any audience.
 * A valid token of theirs says nothing about whether its owner may use this machine.
 *
 * Providers that are set up for one organisation (Okta, Auth0, Keycloak, a tenant of Entra ID) are not
 * listed: who has an account there is its operator's decision.
 */
const OPEN_HOSTS: ReadonlySet<string> = new Set([
  ...['accounts.google.com', 'www.googleapis.com', 'oauth2.googleapis.com', 'securetoken.google.com'],
  ...['github.com', 'api.github.com', 'token.actions.githubusercontent.com'],
  ...['gitlab.com', 'bitbucket.org', 'api.bitbucket.org', 'auth.atlassian.com'],
  ...['login.live.com', 'appleid.apple.com', 'account.apple.com'],
  ...['www.facebook.com', 'limited.facebook.com', 'graph.facebook.com'],
  ...[
    'www.linkedin.com',
    'slack.com',
    'discord.com',
    'id.twitch.tv',
    'login.yahoo.com',
    'api.login.yahoo.com',
  ],
  ...['www.amazon.com', 'api.amazon.com', 'login.salesforce.com', 'huggingface.co', 'oauth2.sigstore.dev'],
])

/** Hosts of Entra ID, whose first part of the path is the tenant. All tenants share their keys. */
const ENTRA_HOSTS: ReadonlySet<string> = new Set(['login.microsoftonline.com', 'sts.windows.net'])

/** Tenants that stand for everybody: by word, and the one that all personal accounts belong to. */
const OPEN_TENANTS: ReadonlySet<string> = new Set([
  ...['', 'common', 'consumers', 'organizations', '9188040d-6c67-4c5b-b112-36a304b66dad'],
])

/** Returns the provider that anybody can get tokens from; undefined: none. The URLs have been checked. */
export function findOpenIssuer(config: CallerAuthConfig): string | undefined {
  const { issuer, jwksUrl, introspectionUrl } = config
  const found = [
    issuer !== undefined && isOpen(issuer) && issuer,
    // Without an issuer only the keys decide, and these sign tokens for everybody with an account at the host.
    issuer === undefined && jwksUrl !== undefined && (isOpen(jwksUrl) || isEntra(jwksUrl)) && jwksUrl,
    introspectionUrl !== undefined && isOpen(introspectionUrl) && introspectionUrl,
  ]
  return found.find(url => url !== false)
}

function isOpen(text: string): boolean {
  if (OPEN_HOSTS.has(hostOf(text))) return true
  const [, tenant = ''] = new URL(text).pathname.toLowerCase().split('/')
  return isEntra(text) && OPEN_TENANTS.has(tenant)
}

const isEntra = (text: string): boolean => ENTRA_HOSTS.has(hostOf(text))

/** A dot behind a host name means the same host. */
const hostOf = (text: string): string => new URL(text).hostname.replace(/\.+$/, '')
