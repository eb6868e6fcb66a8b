import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { isMachine } from '../grant-types.ts'
import { relationOf } from '../oauth/resource-metadata.ts'
import type { StoredLogin } from './login-record.ts'
import { loginKey } from './login-store.ts'

/**
 * The login that a workload uses, found without asking any server. Where several fit, such as those of two paths of
 * one server, it is the one of the longest path, and of these the newest.
 */
export function loginOfWorkload(
  { remote_url, remote_auth_config: auth = {} }: RunConfig,
  logins: readonly StoredLogin[],
): StoredLogin | undefined {
  const target = URL.parse(remote_url ?? '')
  if (!target || isMachine(auth)) return undefined
  const endpoint = auth.authorize_url ? URL.parse(auth.token_url ?? '')?.href : undefined
  const issuer = endpoint ?? auth.issuer
  const fitting = logins.filter(([key, { origin, discovery }]) => {
    if (origin !== target.origin || key !== loginKey(origin, discovery, auth.client_id || undefined))
      return false
    if (issuer && issuer !== discovery.issuer) return false
    return auth.resource
      ? auth.resource === discovery.resource
      : relationOf(discovery.resource, target) !== undefined
  })
  return fitting.sort(
    ([, one], [, other]) =>
      other.discovery.resource.length - one.discovery.resource.length ||
      other.loggedInAt.localeCompare(one.loggedInAt),
  )[0]
}
