import type { App } from '../../../src/app.ts'
import { readCaBundle } from '../../../src/ca-bundle.ts'
import { failures } from '../failures.ts'
import type { Logout } from './end-login.ts'
import { loginOfWorkload } from './login-of-workload.ts'

/** Ends the login that a workload uses; all logins without a name. Fails with `login_missing`. */
export async function logOut(app: App, name: string | undefined, signal: AbortSignal): Promise<Logout[]> {
  const [keeper, { configs }] = await Promise.all([app.service('remoteLogins'), app.service('workloadStore')])
  const logins = await keeper.list()
  const users = name === undefined ? await configs.list() : [await configs.get(name)]
  if (name !== undefined && !users[0]?.remote_url) throw failures.not_remote({ name })
  const bundles = new Map(users.map(user => [loginOfWorkload(user, logins)?.[0], user.svc_ca_bundle]))
  const asked = name === undefined ? logins : logins.filter(([key]) => bundles.has(key))
  if (name !== undefined && asked.length === 0) throw failures.login_missing({ name })
  const ended: Logout[] = []
  for (const [key] of asked) {
    // A bundle that is gone keeps nobody from logging out; the provider may not be reached then.
    const ca = await readCaBundle(bundles.get(key)).catch(() => undefined)
    const logout = await keeper.logout(key, { signal, ca })
    if (logout) ended.push(logout)
  }
  return ended
}
