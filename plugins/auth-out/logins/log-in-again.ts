import type { App } from '../../../src/app.ts'
import { failures } from '../failures.ts'
import { asksForLogin, readLoginSettings, readReach, waitMsOf } from './login-settings.ts'
import { personAtTerminal } from './person-at-terminal.ts'

/** Logs in to the remote server of a workload, also where there is a login. Returns the issuer. */
export async function logInAgain(
  app: App,
  name: string,
  { browser, signal, say }: { browser: boolean; signal: AbortSignal; say: (text: string) => void },
): Promise<string> {
  const config = await (await app.service('workloadStore')).configs.get(name)
  if (!config.remote_url) throw failures.not_remote({ name })
  const reach = { ...(await readReach(config)), signal }
  const found = await (await app.service('oauthEngine')).detect(reach)
  const challenge = found.kind === 'login' ? found.challenge : undefined
  if (!challenge && !asksForLogin(config)) throw failures.login_not_needed({ name })
  const settings = await readLoginSettings(app, config)
  const keeper = await app.service('remoteLogins')
  const place = await keeper.place({ settings, challenge }, reach)
  const missing = await keeper.missingScopes(place.key)
  if (missing.length) say(`The server wants more rights than were granted: ${missing.join(' ')}`)
  const { kept } = await keeper.login(place, {
    person: personAtTerminal(app, { say }, { browser }),
    waitMs: waitMsOf(config.remote_auth_config ?? {}),
    anew: true,
    signal,
  })
  if (kept) return place.discovery.issuer
  await keeper.logout(place.key)
  throw failures.login_not_renewable({ issuer: place.discovery.issuer })
}
