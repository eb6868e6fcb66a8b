import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Ask } from '../../../src/contracts/target.ts'
import { failures } from '../failures.ts'
import { isMachine } from '../grant-types.ts'
import type { Person } from '../oauth/types.ts'
import { plainHttpWarning } from '../plain-http-warning.ts'
import { describeLasting, type LoginOutcome } from './log-in.ts'
import { loginOfWorkload } from './login-of-workload.ts'
import type { LoginPlace } from './login-parts.ts'
import { asksForLogin, readLoginSettings, readReach, waitMsOf } from './login-settings.ts'
import { personAtTerminal } from './person-at-terminal.ts'

/** Logs in to the remote server of a workload, also where there is a login. Returns the issuer, and how long the login lasts. */
export async function logInAgain(
  app: App,
  name: string,
  {
    browser,
    signal,
    ...terminal
  }: { browser: boolean; signal: AbortSignal; say: (text: string) => void; ask: Ask },
): Promise<{ issuer: string; lasting: string | undefined }> {
  const { config, place } = await findPlaceOf(app, name, signal)
  const missing = await (await app.service('remoteLogins')).missingScopes(place.key)
  if (missing.length) terminal.say(`The server wants more rights than were granted: ${missing.join(' ')}`)
  const person = personAtTerminal(app, terminal, { browser })
  const outcome = await logInAnew(app, place, { person, config, signal })
  return { issuer: place.discovery.issuer, lasting: describeLasting(outcome) }
}

/** Where a person logs in for a workload. Fails with `not_remote`, `login_by_token` or `login_not_needed`. */
export async function findPlaceOf(
  app: App,
  name: string,
  signal: AbortSignal,
): Promise<{ config: RunConfig; place: LoginPlace }> {
  const config = await (await app.service('workloadStore')).configs.get(name)
  if (!config.remote_url) throw failures.not_remote({ name })
  const { bearer_token, bearer_token_file } = config.remote_auth_config ?? {}
  if (bearer_token || bearer_token_file) throw failures.login_by_token({ name })
  if (isMachine(config.remote_auth_config)) throw failures.login_by_machine({ name })
  const reach = { ...(await readReach(config)), signal }
  const found = await (await app.service('oauthEngine')).detect(reach)
  const challenge = found.kind === 'login' ? found.challenge : undefined
  if (!challenge && !(await isLoginUsed(app, config))) throw failures.login_not_needed({ name })
  const settings = await readLoginSettings(app, config)
  return { config, place: await (await app.service('remoteLogins')).place({ settings, challenge }, reach) }
}

/** Whether the workload needs a login, though its server may demand one for some requests only. */
async function isLoginUsed(app: App, config: RunConfig): Promise<boolean> {
  if (asksForLogin(config)) return true
  const { statuses } = await app.service('workloadStore')
  if ((await statuses.read(config.name))?.status === 'unauthenticated') return true
  return loginOfWorkload(config, await (await app.service('remoteLogins')).list()) !== undefined
}

/** Logs in to a server whose workloads the supervisor hosts. Fails as the engine does. */
export async function logInAnew(
  app: App,
  place: LoginPlace,
  { person, config, signal }: { person: Person; config: RunConfig; signal: AbortSignal },
): Promise<LoginOutcome> {
  const warning = plainHttpWarning(config, { logsIn: true })
  if (warning) app.log.warn(warning)
  const keeper = await app.service('remoteLogins')
  const waitMs = waitMsOf(config.remote_auth_config ?? {})
  return keeper.login(place, { person, waitMs, anew: true, memory: 'supervisor', signal })
}
