import type { App } from '../../../src/app.ts'
import { failures } from '../failures.ts'
import { loginOfWorkload } from './login-of-workload.ts'

/** What is shown of a login: nothing that opens a server. */
export interface LoginReport {
  readonly server: string
  readonly issuer: string
  /** Client ID. */
  readonly client: string
  readonly resource: string
  readonly scopes: readonly string[]
  /** `kept` where no workload uses it, else the status of those that do: the worst of them. */
  readonly state: 'ready' | 'kept' | 'unauthenticated' | 'auth_retrying'
  readonly reason?: string
  readonly workloads: readonly string[]
  readonly logged_in_at: string
  /** `memory`: it ends with keelson's background process. */
  readonly kept_in: 'secrets' | 'memory'
  /** Of the newest access token; it is renewed by itself. */
  readonly token_expires_at?: string
  /** When the registered client has to be renewed. */
  readonly client_expires_at?: string
}

/** The logins, or the one that a workload uses. Fails with `login_missing`. */
export async function reportLogins(app: App, name: string | undefined): Promise<LoginReport[]> {
  const [keeper, store] = await Promise.all([app.service('remoteLogins'), app.service('workloadStore')])
  const logins = await keeper.list()
  const configs = name === undefined ? await store.configs.list() : [await store.configs.get(name)]
  if (name !== undefined && !configs[0]?.remote_url) throw failures.not_remote({ name })
  const users = configs.map(config => ({ name: config.name, key: loginOfWorkload(config, logins)?.[0] }))
  if (name !== undefined && users[0]?.key === undefined) throw failures.login_missing({ name })
  const statuses = await store.statuses.list()
  const shown = logins.filter(([key]) => name === undefined || key === users[0]?.key)
  return Promise.all(
    shown.map(async ([key, { origin, discovery, client, scopes, loggedInAt }, keptIn]) => {
      const workloads = users.filter(user => user.key === key).map(user => user.name)
      const troubled = workloads
        .map(workload => statuses.get(workload))
        .find(found => found?.status === 'unauthenticated' || found?.status === 'auth_retrying')
      const tokenExpiry = await keeper.tokenExpiry(key)
      const { clientId, secretExpiresAt } = client
      return {
        server: origin,
        issuer: discovery.issuer,
        client: clientId,
        resource: discovery.resource,
        scopes,
        state: (troubled?.status ?? (workloads.length ? 'ready' : 'kept')) as LoginReport['state'],
        ...(troubled?.status_context ? { reason: troubled.status_context } : {}),
        workloads,
        logged_in_at: loggedInAt,
        kept_in: keptIn === 'secrets' ? 'secrets' : 'memory',
        ...(tokenExpiry ? { token_expires_at: tokenExpiry } : {}),
        ...(secretExpiresAt ? { client_expires_at: new Date(secretExpiresAt).toISOString() } : {}),
      }
    }),
  )
}
