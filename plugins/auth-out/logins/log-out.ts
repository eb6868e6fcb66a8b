import type { App } from '../../../src/app.ts'
import { failures } from '../failures.ts'
import type { Logout } from './login-keeper.ts'
import { loginOfWorkload } from './login-of-workload.ts'

/** Ends the login that a workload uses; all logins without a name. Fails with `login_missing`. */
export async function logOut(app: App, name: string | undefined, signal: AbortSignal): Promise<Logout[]> {
  const keeper = await app.service('remoteLogins')
  const logins = await keeper.list()
  const ended: Logout[] = []
  for (const [key] of name === undefined ? logins : [await findOne(app, name, logins)]) {
    const logout = await keeper.logout(key, { signal })
    if (logout) ended.push(logout)
  }
  return ended
}

async function findOne(app: App, name: string, logins: Parameters<typeof loginOfWorkload>[1]) {
  const config = await (await app.service('workloadStore')).configs.get(name)
  if (!config.remote_url) throw failures.not_remote({ name })
  const found = loginOfWorkload(config, logins)
  if (!found) throw failures.login_missing({ name })
  return found
}
