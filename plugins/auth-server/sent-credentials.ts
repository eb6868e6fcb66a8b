import type { AuthServerConfig, UpstreamConfig } from './section.ts'

/** The content of a file or of an environment variable that is sent somewhere. */
interface SentCredential {
  /** The path or the name, as the configuration has it. */
  readonly source: string
  readonly receiver: string
}

/** All that a configuration takes from files and variables and sends to places that it names. */
export const sentCredentials = ({ upstreams, storage }: AuthServerConfig): readonly SentCredential[] => [
  ...upstreams.flatMap(ofUpstream),
  ...ofRedis(storage?.redis_config ?? {}),
]

function ofUpstream({ oidc_config: oidc, oauth2_config: oauth2 }: UpstreamConfig): SentCredential[] {
  const { dcr_config: dcr } = oauth2 ?? {}
  return [
    ...sent([oidc?.client_secret_file, oidc?.client_secret_env_var], oidc?.issuer_url),
    ...sent([oauth2?.client_secret_file, oauth2?.client_secret_env_var], oauth2?.token_endpoint),
    ...sent(
      [dcr?.initial_access_token_file, dcr?.initial_access_token_env_var],
      dcr?.registration_endpoint || dcr?.discovery_url,
    ),
  ]
}

type RedisConfig = NonNullable<NonNullable<AuthServerConfig['storage']>['redis_config']>

function ofRedis({ addr, sentinel_config: sentinel, acl_user_config: user }: RedisConfig): SentCredential[] {
  const servers = [addr, ...(sentinel?.sentinel_addrs ?? [])].filter(Boolean).join(' and ')
  return sent([user?.username_env_var, user?.password_env_var], servers)
}

const sent = (sources: readonly (string | undefined)[], receiver = ''): SentCredential[] =>
  sources.flatMap(source => (source ? [{ source, receiver }] : []))
